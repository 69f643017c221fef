/**
 * Control and data planes of three clouds and of an Ollama behind one address: they give out credentials for a proof, and answer whoever
 * shows these. The vendors' own libraries are told the same (stranger.test.ts), so that what pleases the mock would please them.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { converseFrames, framed, USAGE } from '@test/dialects/aws/bedrock-frames'
import {
  chatChunk,
  chatCompletion,
  eventStream,
  startUpstream,
  type UpstreamCall,
  usageChunk,
  usageOf,
} from '@test/support/upstream'
import { signedHeaders } from '@/dialects/aws/signature'

/** 20 tokens read and 7 written by each answer. */
const COUNTS = usageOf(20, 7)
const CANARY = 'canary-0123456789'
/** What the planes know: who shows these is answered. */
export const SECRETS = {
  ...{ azureKey: `azure-key-${CANARY}`, clientSecret: `client-secret-${CANARY}`, entraToken: `entra-token-${CANARY}` },
  ...{ podToken: `pod-token-${CANARY}`, awsSecret: `aws-secret-${CANARY}`, session: `session-${CANARY}` },
  googleToken: `google-token-${CANARY}`,
}
export const AWS_KEYS = {
  accessKeyId: 'ASIASTRANGER',
  secretAccessKey: SECRETS.awsSecret,
  sessionToken: SECRETS.session,
}
export const REGION = 'eu-west-1'

const denied = (why: string) => Response.json({ error: { code: 401, message: why } }, { status: 401 })

/** Starts them; `publicKey` is the service account's at Google. */
export function startCloudMocks(privateKey: KeyObject) {
  const publicKey = createPublicKey(privateKey)
  const planes: Readonly<Record<string, (call: UpstreamCall) => Response | Promise<Response>>> = {
    'azure-control': ({ path, text }) => {
      const form = new URLSearchParams(text)
      const isRight = path.endsWith('/oauth2/v2.0/token') && form.get('client_secret') === SECRETS.clientSecret
      return isRight ? Response.json({ access_token: SECRETS.entraToken, expires_in: 3599 }) : denied('wrong secret')
    },
    azure: (call) => {
      const { headers } = call
      const isKnown =
        headers.get('api-key') === SECRETS.azureKey || headers.get('authorization') === `Bearer ${SECRETS.entraToken}`
      return isKnown && (headers.get('api-key') === null) !== (headers.get('authorization') === null)
        ? chat(call)
        : denied('wrong key')
    },
    'aws-control': ({ headers }) => {
      if (headers.get('authorization') !== SECRETS.podToken) return denied('wrong token')
      const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token } = AWS_KEYS
      return Response.json({
        AccessKeyId,
        SecretAccessKey,
        Token,
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      })
    },
    bedrock: async (call) => {
      if (!(await isSigned(call))) return denied('wrong signature')
      if (call.path.endsWith('/converse-stream')) return framed(...converseFrames('Hel', 'lo'))
      const message = { role: 'assistant', content: [{ text: 'Hello' }] }
      return Response.json({ output: { message }, stopReason: 'end_turn', usage: USAGE, metrics: { latencyMs: 1 } })
    },
    'google-control': ({ text }) => {
      const [head = '', claim = '', signature = ''] = (new URLSearchParams(text).get('assertion') ?? '').split('.')
      const isRight = verify(
        'RSA-SHA256',
        Buffer.from(`${head}.${claim}`),
        publicKey,
        Buffer.from(signature, 'base64url'),
      )
      return isRight ? Response.json({ access_token: SECRETS.googleToken, expires_in: 3599 }) : denied('wrong key')
    },
    vertex: ({ path, headers }) => {
      if (headers.get('authorization') !== `Bearer ${SECRETS.googleToken}`) return denied('wrong token')
      const chunk = {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27, trafficType: 'ON_DEMAND' },
      }
      return path.includes('alt=sse') ? eventStream(JSON.stringify(chunk)) : Response.json(chunk)
    },
    ollama: chat,
  }
  const server = startUpstream((call) => {
    const [, plane = ''] = call.path.split('/')
    return planes[plane]?.(call) ?? new Response('nobody is here', { status: 404 })
  })

  /** Computed anew from what arrived, with the headers that the caller says to have signed. */
  async function isSigned({ path, headers, text }: UpstreamCall): Promise<boolean> {
    const shown = headers.get('authorization') ?? ''
    const atMs = Date.parse(
      (headers.get('x-amz-date') ?? '').replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
    )
    const isTheirs =
      shown.startsWith(`AWS4-HMAC-SHA256 Credential=${AWS_KEYS.accessKeyId}/`) && shown.includes(`/${REGION}/bedrock/`)
    if (!isTheirs || headers.get('x-amz-security-token') !== SECRETS.session) return false
    if (!/SignedHeaders=host;x-amz-date;x-amz-security-token,/.test(shown)) return true
    const again = await signedHeaders(
      { url: server.url + path, headers: {}, body: text },
      AWS_KEYS,
      { region: REGION, service: 'bedrock' },
      atMs,
    )
    return again.authorization === shown
  }
  return server
}

/** As OpenAI's own interface. */
function chat({ body }: UpstreamCall): Response {
  if (body.stream !== true) return Response.json(chatCompletion('Hello', COUNTS))
  return eventStream(
    ...[chatChunk({ content: 'Hel' }), chatChunk({ content: 'lo' }), chatChunk({}, 'stop'), usageChunk(COUNTS)].map(
      (chunk) => JSON.stringify(chunk),
    ),
    '[DONE]',
  )
}
