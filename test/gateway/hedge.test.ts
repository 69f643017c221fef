/** Hedging: while a provider is silent, a second one is called too; the first content wins, and one is paid. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, eventStream, liveStream, type UpstreamCall } from '@test/support/upstream'
import { type Script, type ScriptedModels, silence, soundAnswer, startScriptedModels } from './scripted-models'

/** Whoever is not freed by a hedge waits for longer than any test. */
const FAR_MS = 900_000
const TIMEOUTS = { connectMs: 10_000, firstByteMs: FAR_MS, idleMs: FAR_MS, totalMs: FAR_MS, hedgeMs: 300 }
/** A thousand and two thousand nano-USD a token. */
const COST = { costPer1mInputTokens: 1, costPer1mOutputTokens: 2 }

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels({ timeouts: TIMEOUTS }, { cost: COST })
})
afterAll(() => world.gateway.stop())

/** A script, and the calls that it was played for. */
function noted(script: Script): { script: Script; calls: UpstreamCall[] } {
  const calls: UpstreamCall[] = []
  return {
    calls,
    script(call) {
      calls.push(call)
      return script(call)
    },
  }
}

function roleThenSilence(): Response {
  const live = liveStream()
  live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: '' }))}\n\n`)
  return live.response
}

const SILENCES: [name: string, stream: boolean, script: Script][] = [
  ['says nothing', false, silence],
  ['says nothing', true, silence],
  ['answers 200 and sends nothing more', true, () => liveStream().response],
  ['sends only its role', true, roleThenSilence],
]

// First of all, while retries are left for a second call.
test('the first call with content wins, even if it is the call that was silent before', async () => {
  const beside = noted(silence)
  const slow = async () => {
    await until(() => beside.calls.length > 0, 'the next to be asked')
    return Response.json(chatCompletion('At last'))
  }
  const model = world.modelWith('chat-completions', slow)
  const next = world.modelWith('chat-completions', beside.script)
  const { response, text } = await world.ask({ format: 'chat-completions', model, fallback: [next] })
  expect(text).toContain('At last')
  expect(response.headers.get('x-svc-model')).toBe(model)
  await until(() => beside.calls[0]?.isAborted, 'the other call to be ended')
  const requestId = response.headers.get('x-request-id')
  const { sql } = world.gateway.gateway.database
  const [row] = await until(async () => {
    const rows = await sql<{ cost_nano: number; provider_cost_nano: number }[]>`
      SELECT cost_nano, provider_cost_nano FROM usage_records WHERE request_id = ${requestId}`
    return rows.length > 0 && rows
  }, 'the record to be booked')
  const own = 10 * 1_000 + 5 * 2_000
  expect(row?.cost_nano).toBe(own)
  // The prompt of the call that was outrun as well, in our own count.
  expect(row?.provider_cost_nano).toBeGreaterThan(own)
  expect(row?.provider_cost_nano).toBeLessThan(own + 30 * 1_000)
  const [thrown] = await sql`SELECT sum(calls) AS calls, sum(cost_nano) AS cost FROM thrown_away_daily`
  expect(thrown).toEqual({ calls: '1', cost: String((row?.provider_cost_nano ?? 0) - own) })
})

test.each(SILENCES)('if a provider %s (stream: %p), the client does not wait for it', async (_, stream, script) => {
  const silent = noted(script)
  const model = world.modelWith('chat-completions', silent.script)
  const next = world.modelWith('messages', () => soundAnswer('messages', stream))
  const { response, text } = await world.ask({ format: 'messages', model, fallback: [next], stream })
  expect(response.status).toBe(200)
  expect(text).toMatch(/So/)
  expect(response.headers.get('x-svc-model')).toBe(next)
  expect(response.headers.get('x-svc-route-reason')).toMatch(
    new RegExp(`^fallback; ${model} (silent|silence-timeout)$`),
  )
  await until(() => silent.calls.every((call) => call.isAborted), 'the silent call to be ended')
  expect(silent.calls).toHaveLength(1)
})

test('if one of two parallel calls fails, the other continues', async () => {
  const model = world.modelWith('chat-completions', silence)
  const broken = world.modelWith('chat-completions', () => Response.json({ error: {} }, { status: 404 }))
  const sound = world.modelWith('chat-completions', () =>
    eventStream(chatChunk({ content: 'Sound' }, 'stop'), '[DONE]'),
  )
  const asked = { format: 'chat-completions' as const, model, fallback: [broken, sound], stream: true }
  const { response, text } = await world.ask(asked)
  expect([response.status, response.headers.get('x-svc-model')]).toEqual([200, sound])
  expect(text).toContain('Sound')
})

describe('many requests to a silent provider', () => {
  test('many requests to one silent provider are all answered, charged once, with few additional calls', async () => {
    const silent = noted(silence)
    const model = world.modelWith('chat-completions', silent.script)
    const sound = noted(() => soundAnswer('chat-completions', false))
    const next = world.modelWith('chat-completions', sound.script)
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => world.ask({ format: 'chat-completions', model, fallback: [next] })),
    )
    expect(answers.map(({ response }) => response.status)).toEqual(Array(60).fill(200))
    expect(silent.calls.length).toBeLessThanOrEqual(60)
    expect(sound.calls.length).toBe(60)
    await until(() => silent.calls.every((call) => call.isAborted), 'all silent calls to be ended')
    await until(
      async () => (await world.gateway.balance(world.customer.accountId)).held === 0,
      'every hold to be settled',
    )
  })
})
