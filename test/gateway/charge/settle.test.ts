/** The end of a charge: what is taken from the hold, recorded, counted and logged; and the charge if the gateway crashes. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createTestAnswer, type TestAnswer } from '@test/gateway/answer-parts'
import { modelOf } from '@test/routing/world'
import type { ChatEvent } from '@/chat/event'
import { ZERO_USAGE } from '@/chat/usage'
import { progressOf } from '@/gateway/charge/open-charge'
import { settle } from '@/gateway/charge/settle'

let answer: TestAnswer

beforeEach(() => {
  answer = createTestAnswer()
})

function see(...events: ChatEvent[]): void {
  for (const event of events) answer.charge.meter.observe(event)
}

const USAGE: ChatEvent = { type: 'usage', usage: { ...ZERO_USAGE, uncached: 10, output: 5 } }
const WORDS: ChatEvent = { type: 'text-delta', choice: 0, block: 0, text: 'words and more' }

describe('a complete answer', () => {
  test('a complete answer costs its usage; usage record, metrics and log agree', async () => {
    see(WORDS, USAGE)
    answer.charge.meter.noteDelivery(400)
    const charge = await settle(answer.deps, answer.charge, 'complete')
    expect(charge).toMatchObject({ kind: 'charge', cost: 30_000, rule: 'usage', flags: [] })
    expect(answer.told).toMatchObject({
      costs: [30_000],
      settled: [{ ...answer.charge.facts, rule: 'usage', status: 200, firstTokenMs: 400, durationMs: 1_000 }],
      counted: [{ model: 'svc/alpha', provider: 'provider1', status: 200, ending: 'complete', firstTokenMs: 400 }],
    })
    expect(answer.deps.logger.lines).toMatchObject([
      {
        event: 'chat',
        fields: { requestId: 'req_1', accountId: 'acct_1', keyId: 'key_1', attempts: 2, costNano: 30_000 },
      },
    ])
  })

  test('a free answer releases the hold and writes no record', async () => {
    expect(await settle(answer.deps, answer.charge, 'broken')).toEqual({ kind: 'free' })
    expect(answer.told).toMatchObject({ released: 1, settled: [], counted: [{ ending: 'broken' }] })
    expect(answer.deps.logger.lines[0]?.fields?.costNano).toBeUndefined()
  })
})

describe('the provider’s cost and counts', () => {
  const cost = modelOf('svc/alpha', [], { usd: 0.5 }).pricing

  test('if the provider’s cost is known, the record, the metrics and the log have it', async () => {
    see(WORDS, USAGE)
    await settle(answer.deps, { ...answer.charge, cost }, 'complete')
    expect(answer.told).toMatchObject({ settled: [{ providerCost: 15_000 }], counted: [{ providerCost: 15_000 }] })
    expect(answer.deps.logger.lines[0]?.fields).toMatchObject({ costNano: 30_000, providerCostNano: 15_000 })
  })

  test('a usage record marks cache writes that were priced by the requested lifetime', async () => {
    const write = (cacheWrite: object) => see(WORDS, { ...USAGE, usage: { ...ZERO_USAGE, output: 5, ...cacheWrite } })
    const settled = () => settle(answer.deps, { ...answer.charge, writesForHour: true }, 'complete')
    write({ cacheWrite5m: 100 })
    await settled()
    expect(answer.told.settled[0]).toMatchObject({
      isReclassified: true,
      usage: { cacheWrite5m: 0, cacheWrite1h: 100 },
    })
    answer = createTestAnswer()
    write({ cacheWrite5m: 40, cacheWrite1h: 60 })
    await settled()
    expect(answer.told.settled[0]).not.toHaveProperty('isReclassified')
    answer = createTestAnswer()
    write({ cacheWrite5m: 100, areWritesSplit: true })
    await settled()
    expect(answer.told.settled[0]).not.toHaveProperty('isReclassified')
    expect(answer.told.settled[0]?.usage).toEqual({ ...ZERO_USAGE, output: 5, cacheWrite5m: 100 })
  })

  test('if the provider’s cost is unknown, record, metrics and log have none', async () => {
    see(WORDS, USAGE)
    await settle(answer.deps, answer.charge, 'complete')
    expect(answer.told.settled[0]).not.toHaveProperty('providerCost')
    expect(answer.told.counted[0]?.providerCost).toBeUndefined()
    expect(answer.deps.logger.lines[0]?.fields?.providerCostNano).toBeUndefined()
  })

  test('the provider’s cost of a free answer is in the metrics, although there is no record', async () => {
    see({ ...USAGE, usage: { ...ZERO_USAGE, uncached: 10 } })
    expect(await settle(answer.deps, { ...answer.charge, cost }, 'broken')).toEqual({ kind: 'free' })
    expect(answer.told).toMatchObject({ settled: [], counted: [{ providerCost: 5_000 }] })
  })

  test('if the provider’s count is far from ours, the record, the metrics and the log have both', async () => {
    see(WORDS, { ...USAGE, usage: { ...ZERO_USAGE, uncached: 900_000, output: 5 } })
    await settle(answer.deps, answer.charge, 'complete')
    const counts = { gaps: ['input_over', 'clamped'], providerInput: 900_000, providerOutput: 5, localInput: 20 }
    expect(answer.told).toMatchObject({ settled: [{ counts }], counted: [{ counts }] })
    expect(answer.deps.logger.lines[0]?.fields).toMatchObject({ counts })
  })
})

test('tokens of a class without a price raise an alert', async () => {
  see(WORDS, { ...USAGE, unknown: ['video_tokens'] }, USAGE)
  await settle(answer.deps, answer.charge, 'complete')
  expect(answer.told.counted).toMatchObject([{ provider: 'provider1', unknownUsage: ['video_tokens'] }])
  expect(answer.told.settled).toMatchObject([{ hasUnpricedUsage: true }])
  expect(answer.deps.logger.lines[0]).toMatchObject({
    event: 'unknown_usage_classes',
    fields: { requestId: 'req_1', provider: 'provider1', classes: ['video_tokens'] },
  })
})

test('an unlisted finish reason is logged', async () => {
  see(WORDS, { type: 'finish', choice: 0, finish: { kind: 'unknown', raw: 'NEW', isUnlisted: true } }, USAGE)
  await settle(answer.deps, answer.charge, 'complete')
  expect(answer.told.counted).toMatchObject([{ provider: 'provider1', unlistedFinish: 'NEW' }])
  expect(answer.deps.logger.lines[0]).toMatchObject({
    ...{ level: 'warn', event: 'unlisted_finish_reason' },
    fields: { requestId: 'req_1', provider: 'provider1', word: 'NEW' },
  })
})

describe('the recorded status', () => {
  test.each([
    ['complete', 200],
    ['broken', 200],
    ['disconnected', 499],
  ] as const)('the recorded status of an answer that ended %s is %d', async (ending, status) => {
    see(WORDS)
    await settle(answer.deps, answer.charge, ending)
    expect(answer.told.settled.map((facts) => facts.status)).toEqual([status])
  })
})

describe('the cost of a crashed gateway’s request', () => {
  test('a crash costs the same as a disconnect at that moment, but is recorded under its own rule', () => {
    see(WORDS)
    const { cost, facts } = progressOf(answer.charge, answer.clock)
    expect(cost as number).toBe(20 * 1_000 + 4 * 4_000)
    expect(facts).toMatchObject({ rule: 'expired', status: 499, flags: ['estimated'], durationMs: 1_000 })
  })

  test('a crash costs at least the input once the provider was called', () => {
    expect(progressOf(answer.charge, answer.clock).cost as number).toBe(20_000)
  })
})
