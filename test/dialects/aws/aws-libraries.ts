/** The libraries of Anthropic and AWS for Bedrock, and what they send and read: the judges of what we send, and of what our tests answer. */
import { Readable } from 'node:stream'
import AnthropicBedrock from '@anthropic-ai/bedrock-sdk'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import type { JsonObject } from '@/lib/json'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
const REGION = 'eu-west-1'

/** One call as a library sends it. */
type SentCall = { path: string; headers: Record<string, string>; body: JsonObject }

/** AWS' own client, which is answered with `answer`; what it sent is in `calls`. */
function awsClient(answer: Response, calls: SentCall[], credentials: object) {
  return new BedrockRuntimeClient({
    ...{ region: REGION, maxAttempts: 1, ...credentials },
    requestHandler: {
      async handle({ path, headers, body }: { path: string; headers: Record<string, string>; body: Uint8Array }) {
        const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
        calls.push({ path, headers: Object.fromEntries(lower), body: JSON.parse(new TextDecoder().decode(body)) })
        const bytes = Buffer.from(await answer.arrayBuffer())
        return {
          response: {
            statusCode: answer.status,
            headers: Object.fromEntries(answer.headers),
            body: Readable.from([bytes]),
          },
        }
      },
      metadata: { handlerProtocol: 'http/1.1' },
    } as never,
  })
}

/** What AWS' client sends of `input`. */
export async function sentByAws(input: ConverseCommandInput, isStream = false, token?: string): Promise<SentCall> {
  const calls: SentCall[] = []
  const credentials =
    token === undefined ? { credentials: KEYS } : { token: { token }, authSchemePreference: ['httpBearerAuth'] }
  const client = awsClient(Response.json({}), calls, credentials)
  const sending: Promise<unknown> = isStream
    ? client.send(new ConverseStreamCommand(input))
    : client.send(new ConverseCommand(input))
  await sending.catch(() => undefined)
  const [call] = calls
  if (!call) throw new Error('nothing was sent')
  return call
}

/** What AWS' client reads in an answer of Converse: the events of a stream, or the one answer. */
export async function readByAws(answer: Response, isStream: boolean): Promise<unknown[]> {
  const input = { modelId: 'm', messages: [{ role: 'user' as const, content: [{ text: 'Hi' }] }] }
  const client = awsClient(answer, [], { credentials: KEYS })
  if (!isStream) return [await client.send(new ConverseCommand(input))]
  const { stream } = await client.send(new ConverseStreamCommand(input))
  return Array.fromAsync(stream ?? [])
}

/** Anthropic's client for Bedrock at `baseURL`. */
export function anthropicAt(baseURL: string) {
  return new AnthropicBedrock({
    ...{ baseURL, awsRegion: REGION, maxRetries: 0 },
    ...{ awsAccessKey: KEYS.accessKeyId, awsSecretKey: KEYS.secretAccessKey },
  })
}
