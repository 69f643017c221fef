/** Calls to be signed, in all that changes a signature: spellings of the model, text beyond ASCII, kinds of keys, services. */
import { signedHeaders } from '@/dialects/aws/signature'

const HOST = 'https://bedrock-runtime.eu-west-1.amazonaws.com'
const ARN = 'arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2c3'
const ADDRESSES = [
  `${HOST}/model/anthropic.claude-x-v1:0/invoke`,
  `${HOST}/model/anthropic.claude-x-v1%3A0/invoke-with-response-stream`,
  `${HOST}/model/${ARN}/converse`,
  `${HOST}/openai/v1/chat/completions`,
  'http://127.0.0.1:8080/model/eu.amazon.nova-pro-v1%3A0/converse-stream',
]
const BODIES = ['{}', '{"text":"Grüße, 世界 😀\\n"}', '']

type SignedCall = {
  url: string
  body: string
  atMs: number
  region: string
  service: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }

/** Every address with every body, with lasting and with temporary keys, for two services. */
export const CALLS: readonly SignedCall[] = ADDRESSES.flatMap((url) =>
  BODIES.flatMap((body) =>
    ['bedrock', 'bedrock-mantle'].flatMap((service) => [
      { ...{ url, body, service, region: 'eu-west-1', atMs: 1_790_000_000_000 }, ...KEYS },
      {
        ...{ url, body, service, region: 'us-gov-west-1', atMs: 1_790_086_399_000 },
        ...KEYS,
        sessionToken: 'Fwo/token+==',
      },
    ]),
  ),
)

/** What of its signature a call carries. */
export async function signatureOf({ url, body, region, service, atMs, ...credentials }: SignedCall) {
  const signed = await signedHeaders({ url, headers: {}, body }, credentials, { region, service }, atMs)
  return Object.fromEntries(Object.entries(signed).filter(([name]) => /^(?:authorization|x-amz-)/.test(name)))
}
