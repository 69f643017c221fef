/** AWS signatures (SigV4) of a call. */
import type { OutgoingCall } from '@/dialects/credentials/authorizer'

export type AwsCredentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

type SignatureScope = { region: string; service: string }

/** Derived keys by secret, day, region and service: the same for all calls of a day. */
const derivedKeys = new Map<string, ArrayBuffer>()
const MAX_DERIVED_KEYS = 64

/** The headers of `call` with its signature, valid for exactly these bytes and for five minutes around `nowMs`. */
export async function signedHeaders(
  { url, headers, body }: OutgoingCall,
  credentials: AwsCredentials,
  scope: SignatureScope,
  nowMs: number,
): Promise<Record<string, string>> {
  // Loaded only if a provider is at AWS.
  const { AwsV4Signer } = await import('aws4fetch')
  if (derivedKeys.size >= MAX_DERIVED_KEYS) derivedKeys.clear()
  const signer = new AwsV4Signer({
    ...{ method: 'POST', url, body, ...credentials, ...scope },
    ...{ datetime: amzDate(nowMs), cache: derivedKeys },
  })
  const signed = await signer.sign()
  return { ...headers, ...Object.fromEntries(signed.headers) }
}

/** A Bedrock API key made from `credentials`: a presigned URL, valid for {@link KEY_LIFE_MS} but no longer than the credentials. */
export async function bedrockKey(credentials: AwsCredentials, region: string, nowMs: number): Promise<string> {
  const { AwsV4Signer } = await import('aws4fetch')
  const url = `${KEY_ADDRESS}/?Action=CallWithBearerToken&X-Amz-Expires=${KEY_LIFE_MS / 1000}`
  const scope = { region, service: 'bedrock', datetime: amzDate(nowMs) }
  const signer = new AwsV4Signer({ method: 'POST', url, signQuery: true, ...credentials, ...scope })
  const signed = (await signer.sign()).url.toString().slice('https://'.length)
  return `bedrock-api-key-${Buffer.from(`${signed}&Version=1`).toString('base64')}`
}

/** The longest lifetime that AWS allows for such a key. */
export const KEY_LIFE_MS = 12 * 3_600_000
const KEY_ADDRESS = 'https://bedrock.amazonaws.com'

function amzDate(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '')
}
