/** Answers of Bedrock that public test suites recorded, byte for byte, read as the vendors’ own clients read them. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { targetOfEntry } from '@test/dialects/provider-entry'
import { startUpstream } from '@test/support/upstream'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'
import { anthropicAt, readByAws } from './aws-libraries'

type Recorded = { name: string; operation: string; status: number; errorType?: string; frames?: string; body?: object }

const RECORDED = readFileSync('test/fixtures/bedrock/recorded.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)
/** The one recording whose model has told other counts than Bedrock has measured. */
const IN_DOUBT = ['invoke_model_with_response_stream_no_content_tool_call[anthropic.claude] 0', 133, 97]
const named = (of: readonly Recorded[]) => of.map((recorded) => [recorded.name, recorded] as const)
const answered = RECORDED.filter(({ status }) => status === 200)
const [conversed, invoked] = ['converse', 'invoke'].map((word) =>
  answered.filter(({ operation }) => operation.startsWith(word)),
)

function dialectOf({ operation }: Recorded) {
  const dialect = operation.startsWith('invoke') ? 'bedrock-invoke' : 'bedrock-converse'
  const entry = { format: 'messages', dialect, baseUrl: 'http://127.0.0.1:1', keys: ['k'] }
  return targetOfEntry(entry).provider.dialect
}

function responseOf({ frames, body }: Recorded): Response {
  if (frames === undefined) return Response.json(body)
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
  return new Response(Buffer.from(frames, 'base64'), { headers })
}

/** What an answer says, whoever reads it. */
type Told = {
  text: string
  thinking: string
  calls: { id: unknown; name: unknown; input: unknown }[]
  stop: unknown
  usage: unknown
}
const NOTHING: Told = { text: '', thinking: '', calls: [], stop: undefined, usage: undefined }

/** Of a message of the format. */
function toldBy(message: { content: unknown; stop_reason: unknown; usage: unknown }): Told {
  const told: Told = { ...NOTHING, calls: [], stop: message.stop_reason, usage: message.usage }
  for (const block of message.content as JsonObject[]) {
    told.text += textOf(block.text) ?? ''
    told.thinking += textOf(block.thinking) ?? ''
    if (block.type === 'tool_use') told.calls.push({ id: block.id, name: block.name, input: block.input })
  }
  return told
}

/** Of one that our dialect has made, whole or in pieces of `size` bytes. */
async function read(recorded: Recorded, size = Number.MAX_SAFE_INTEGER): Promise<Told> {
  const response = responseOf(recorded)
  const reading = dialectOf(recorded).readAnswer?.(response.headers, ({ told, measured }) => {
    expect([recorded.name, told.output_tokens, measured.output_tokens]).toEqual(IN_DOUBT)
  })
  if (reading?.kind !== 'stream') {
    const json = (await response.json()) as JsonObject
    const message = reading ? reading.read(json) : json
    assert(message, 'it is an answer')
    return toldBy(message as never)
  }
  const bytes = new Uint8Array(await response.arrayBuffer())
  let text = ''
  for (let at = 0; at < bytes.length; at += size) text += reading.push(bytes.subarray(at, at + size))
  text += reading.end()
  return gathered(new SseParser().push(new TextEncoder().encode(text)).map(({ data }) => parseJson(data ?? '')))
}

function gathered(events: unknown[]): Told {
  const content: JsonObject[] = []
  const inputs: string[] = []
  let [stop, usage]: [unknown, JsonObject] = [undefined, {}]
  for (const event of events as JsonObject[]) {
    const at = Number(event.index)
    const delta = isJsonObject(event.delta) ? event.delta : {}
    expect(event.type).not.toBe('error')
    if (isJsonObject(event.content_block)) content[at] = { ...event.content_block }
    const block = content[at] ?? {}
    for (const field of ['text', 'thinking']) {
      if (typeof delta[field] === 'string') block[field] = (textOf(block[field]) ?? '') + delta[field]
    }
    if (typeof delta.partial_json === 'string') inputs[at] = (inputs[at] ?? '') + delta.partial_json
    if (event.type === 'content_block_stop' && block.type === 'tool_use') block.input = JSON.parse(inputs[at] || '{}')
    if (delta.stop_reason !== undefined) stop = delta.stop_reason
    const begun = isJsonObject(event.message) && isJsonObject(event.message.usage) ? event.message.usage : {}
    usage = { ...usage, ...begun, ...(isJsonObject(event.usage) && event.usage) }
  }
  expect((events.at(-1) as JsonObject).type).toBe('message_stop')
  return toldBy({ content, stop_reason: stop, usage })
}

/** What AWS’ own client reads: the blocks of a whole answer, or those that the events of a stream come to. */
async function readByClient(recorded: Recorded): Promise<Told> {
  const isStream = recorded.frames !== undefined
  const events = (await readByAws(responseOf(recorded), isStream)) as ClientEvent[]
  const told: Told = { ...NOTHING, calls: [] }
  const inputs = new Map<unknown, string>()
  for (const event of events) {
    const { contentBlockIndex: at, start, delta } = event.contentBlockStart ?? event.contentBlockDelta ?? {}
    const pieces = event.output?.message.content ?? (delta ? [delta] : [])
    for (const { text, citationsContent, reasoningContent, toolUse } of pieces) {
      told.text += text ?? citationsContent?.content.map((part) => part.text).join('') ?? ''
      told.thinking += reasoningContent?.text ?? reasoningContent?.reasoningText?.text ?? ''
      if (!toolUse) continue
      if (delta) inputs.set(at, (inputs.get(at) ?? '') + toolUse.input)
      else told.calls.push({ id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input })
    }
    if (start?.toolUse) told.calls.push({ id: start.toolUse.toolUseId, name: start.toolUse.name, input: at })
    told.stop = event.stopReason ?? event.messageStop?.stopReason ?? told.stop
    told.usage = event.usage ?? event.metadata?.usage ?? told.usage
  }
  if (isStream) for (const call of told.calls) call.input = JSON.parse(inputs.get(call.input) || '{}')
  return { ...told, usage: inWordsOfMessages((told.usage ?? {}) as JsonObject) }
}

type Piece = {
  text?: string
  citationsContent?: { content: { text: string }[] }
  reasoningContent?: { text?: string; reasoningText?: { text: string } }
  toolUse?: { toolUseId: string; name: string; input: unknown }
}
type ClientEvent = {
  contentBlockStart?: { contentBlockIndex: number; start?: Piece; delta?: Piece }
  contentBlockDelta?: { contentBlockIndex: number; start?: Piece; delta?: Piece }
  messageStop?: { stopReason: string }
  metadata?: { usage: object }
  output?: { message: { content: Piece[] } }
  stopReason?: string
  usage?: object
}

function inWordsOfMessages(usage: JsonObject): JsonObject {
  const words = {
    ...{ inputTokens: 'input_tokens', outputTokens: 'output_tokens' },
    ...{ cacheReadInputTokens: 'cache_read_input_tokens', cacheWriteInputTokens: 'cache_creation_input_tokens' },
  }
  return Object.fromEntries(
    Object.entries(words).flatMap(([theirs, ours]) => (usage[theirs] === undefined ? [] : [[ours, usage[theirs]]])),
  )
}

test('every recorded answer of the public suites is tested', () => {
  expect(RECORDED.length).toBeGreaterThanOrEqual(23)
})

describe('E16: Converse', () => {
  test.each(named(conversed ?? []))('a recorded answer of Converse is read: %s', async (_, recorded) => {
    const told = await readByClient(recorded)
    expect(await read(recorded)).toEqual(told)
    if (recorded.frames !== undefined) for (const size of [1, 7, 1000]) expect(await read(recorded, size)).toEqual(told)
  })
})

describe('E15: InvokeModel', () => {
  test.each(named(invoked ?? []))('a recorded answer of InvokeModel is read: %s', async (_, recorded) => {
    const mock = startUpstream(() => responseOf(recorded))
    const request = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }
    const { messages } = anthropicAt(mock.url)
    const final = recorded.frames === undefined ? messages.create(request) : messages.stream(request).finalMessage()
    const told = toldBy(await final)
    mock.stop()
    for (const size of [1, 1000]) expect(await read(recorded, size)).toEqual(told)
  })
})

test.each(named(RECORDED.filter(({ status }) => status !== 200)))(
  'E22: a recorded error of Bedrock is read: %s',
  (_, recorded) => {
    const headers = new Headers({ 'x-amzn-errortype': recorded.errorType ?? '' })
    const error = dialectOf(recorded).decodeError?.(recorded.status, headers, recorded.body as JsonObject)
    expect(error).toMatchObject({ kind: 'ValidationException', reason: 'model-not-found' })
  },
)
