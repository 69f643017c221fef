/** Conversations at a provider with several keys: encrypted reasoning returns to the key's account that made it, in every format. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type FormatName, type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import type { UpstreamCall } from '@test/support/upstream'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

const KEYS = ['sk-first-canary', 'sk-second-canary', 'sk-third-canary']

let models: ScriptedModels
/** With which key each call came, and what came of it. */
let calls: { key: string; status: number }[]

beforeAll(async () => {
  models = await startScriptedModels({ keys: KEYS })
})

afterAll(() => models.gateway.stop())

/** A provider whose accounts read only what they have encrypted themselves, and answer no more than `limited` allows. */
function provider(limited: Set<string> = new Set()) {
  calls = []
  return (call: UpstreamCall): Response => {
    const key = call.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    const answer = limited.has(key)
      ? Response.json({ error: { message: 'slow down' } }, { status: 429 })
      : answerOf(call, key)
    calls.push({ key, status: answer.status })
    return answer
  }
}

function answerOf({ body }: UpstreamCall, key: string): Response {
  const input = Array.isArray(body.input) ? body.input.filter(isJsonObject) : []
  const proofs = input.flatMap(({ encrypted_content: proof }) => (typeof proof === 'string' ? [proof] : []))
  if (proofs.some((proof) => proof !== `by-${key}`)) {
    const error = { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content' }
    return Response.json({ error }, { status: 400 })
  }
  const usage = { input_tokens: 5, output_tokens: 5, total_tokens: 10 }
  const output = [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: `by-${key}` },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: `call_${calls.length}`,
      name: 'look',
      arguments: '{}',
      status: 'completed',
    },
  ]
  return Response.json({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output,
    usage,
  })
}

/** How callers of each format say the tool, and go on after its call: with what they were given, and its result. */
const CALLERS: [FormatName, (question: string) => JsonObject, (body: JsonObject, answer: JsonObject) => JsonObject][] =
  [
    [
      'responses',
      (question) => ({
        input: [{ role: 'user', content: question }],
        store: false,
        tools: [{ type: 'function', name: 'look', parameters: {}, strict: false }],
      }),
      (body, { output }) => {
        const results = list(output).flatMap(({ type, call_id: id }) =>
          type === 'function_call' ? [{ type: 'function_call_output', call_id: id ?? '', output: 'found' }] : [],
        )
        return { ...body, input: [...list(body.input), ...list(output), ...results] }
      },
    ],
    [
      'messages',
      (question) => ({
        messages: [{ role: 'user', content: question }],
        max_tokens: 3_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
      }),
      (body, { content }) => {
        const results = list(content).flatMap(({ type, id }) =>
          type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id ?? '', content: 'found' }] : [],
        )
        const said = [
          { role: 'assistant', content: content ?? [] },
          { role: 'user', content: results },
        ]
        return { ...body, messages: [...list(body.messages), ...said] }
      },
    ],
  ]

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

test.each(CALLERS)('a conversation of %s keeps its provider key', async (format, begin, goOn) => {
  const model = models.modelWith('responses', provider())
  const used = new Set<string>()
  for (let conversation = 0; conversation < 12; conversation++) {
    calls = []
    let body = begin(`Look for ${conversation}`)
    for (let turn = 0; turn < 4; turn++) {
      const { response, text } = await models.ask({ format, model, body })
      expect(response.status).toBe(200)
      body = goOn(body, JSON.parse(text))
    }
    expect(calls).toEqual(Array.from({ length: 4 }, () => ({ key: calls[0]?.key ?? '', status: 200 })))
    used.add(calls[0]?.key ?? '')
  }
  expect(used.size).toBeGreaterThan(1)
})

test('while its provider key is paused, a conversation uses another key, without encrypted reasoning', async () => {
  const limited = new Set<string>()
  const model = models.modelWith('responses', provider(limited))
  const [format, begin, goOn] = CALLERS[0] as (typeof CALLERS)[number]
  const body = begin('Look')
  const { text } = await models.ask({ format, model, body })
  const [{ key } = { key: '' }] = calls
  limited.add(key)
  const { response } = await models.ask({ format, model, body: goOn(body, JSON.parse(text)) })
  expect(response.status).toBe(200)
  expect(calls.map(({ status }) => status)).toEqual([200, 429, 400, 200])
  expect(new Set(calls.slice(2).map((call) => call.key)).has(key)).toBe(false)
})
