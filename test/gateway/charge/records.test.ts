/** Whole requests, however they end: each usage record has the price of the provider's counts, or names the rule by which it differs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatChunk, chatCompletion, eventStream, type Respond, usageOf } from '@test/support/upstream'
import { ask, flushed } from '@test/usage/customer'

/** Nano-USD a token, of the catalogue of tests and of what it says the provider asks. */
const PRICE = { input: 1_000, output: 2_000 }
const COST = { input: 600, output: 1_500 }
const LONG_WORD = 'pneumonoultramicroscopicsilicovolcanoconiosis '

let gateway: TestGateway
let customer: Customer
let respond: Respond

beforeAll(async () => {
  gateway = await startGateway({
    respond: (call, index) => respond(call, index),
    catalog(file) {
      const [alpha] = file.models
      const pricing = { ...(alpha?.pricing as object), costPer1mInputTokens: 0.6, costPer1mOutputTokens: 1.5 }
      Object.assign(alpha ?? {}, { pricing })
    },
  })
  customer = await gateway.customer('50')
})
afterAll(() => gateway.stop())

async function recordOf(requestId: string) {
  await flushed(gateway, customer.accountId)
  const { db } = gateway.gateway.database
  const record = await db.query.usageRecords.findFirst({ where: (row, { eq }) => eq(row.requestId, requestId) })
  if (!record) throw new Error(`no record of ${requestId}`)
  const { uncachedTokens: input, outputTokens: output, cost, providerCost, chargeBasis, countGaps } = record
  return { input, output, cost: cost as number, providerCost, chargeBasis, countGaps, record }
}

describe('the usage record of an answer', () => {
  test('a usage record with reported usage has its price and the provider’s cost', async () => {
    respond = () => Response.json(chatCompletion('Hello', usageOf(100, 11)))
    expect(await recordOf(await ask(gateway, customer.key))).toMatchObject({
      ...{ input: 100, output: 11, cost: 100 * PRICE.input + 11 * PRICE.output, chargeBasis: 'provider' },
      ...{ providerCost: 100 * COST.input + 11 * COST.output, countGaps: null },
    })
  })

  test('usage above our count, but possible, is charged in full and flagged as a gap', async () => {
    respond = () => Response.json(chatCompletion('Hello', usageOf(2_000, 11)))
    const content = 'word '.repeat(1_000)
    const requestId = await ask(gateway, customer.key, { messages: [{ role: 'user', content }] })
    expect(await recordOf(requestId)).toMatchObject({ input: 2_000, chargeBasis: 'provider', countGaps: null })
    respond = () => Response.json(chatCompletion('Hello', usageOf(4_500, 11)))
    const flagged = await recordOf(await ask(gateway, customer.key, { messages: [{ role: 'user', content }] }))
    expect(flagged).toMatchObject({ input: 4_500, chargeBasis: 'provider', countGaps: ['input_over'] })
    expect(flagged.cost).toBe(4_500 * PRICE.input + 11 * PRICE.output)
    expect(flagged.record).toMatchObject({ providerInputTokens: 4_500, providerOutputTokens: 11 })
    expect(flagged.record.localInputTokens).toBeWithin(1_000, 2_250)
  })

  test('usage above the exact count of a small balance is charged too', async () => {
    respond = () => Response.json(chatCompletion('Hello', usageOf(2_200, 5)))
    const poor = await gateway.customer('0.005')
    const content = 'word '.repeat(800)
    const requestId = await ask(gateway, poor.key, { max_tokens: 10, messages: [{ role: 'user', content }] })
    await flushed(gateway, poor.accountId)
    const { record, ...charged } = await recordOf(requestId)
    expect(charged).toMatchObject({
      input: 2_200,
      chargeBasis: 'provider',
      cost: 2_200 * PRICE.input + 5 * PRICE.output,
    })
    expect(record.held as number).toBeLessThan(4_000 * PRICE.input)
    expect(charged.cost).toBeLessThanOrEqual(record.held)
  })

  test('impossible usage is limited and flagged, and the record keeps the provider’s counts and cost', async () => {
    respond = () => Response.json(chatCompletion('Hello', usageOf(900_000, 11)))
    const { record, ...cut } = await recordOf(await ask(gateway, customer.key))
    expect(cut).toMatchObject({ chargeBasis: 'clamped', countGaps: ['input_over', 'clamped'] })
    expect(cut.cost).toBe(cut.input * PRICE.input + 11 * PRICE.output)
    expect(cut.input).toBeLessThan(1_000)
    expect(record).toMatchObject({
      providerInputTokens: 900_000,
      providerCost: 900_000 * COST.input + 11 * COST.output,
    })
  })

  test('a usage record without reported usage has our own count', async () => {
    respond = () => Response.json(chatCompletion('Hello', null))
    const { record, ...counted } = await recordOf(await ask(gateway, customer.key))
    expect(counted).toMatchObject({ chargeBasis: 'counted', countGaps: null })
    expect(counted.cost).toBe(counted.input * PRICE.input + counted.output * PRICE.output)
    expect(counted.providerCost).toBe(counted.input * COST.input + counted.output * COST.output)
  })

  test('a usage record of a broken answer with early usage has the relayed output', async () => {
    const early = { ...chatChunk({ role: 'assistant', content: '' }), usage: usageOf(100, 1) }
    respond = () => eventStream(early, chatChunk({ content: LONG_WORD.repeat(10) }))
    const { record, ...relayed } = await recordOf(await ask(gateway, customer.key, { stream: true }))
    expect(relayed).toMatchObject({ input: 100, chargeBasis: 'relayed' })
    expect(relayed.output).toBeGreaterThan(100)
  })
})
