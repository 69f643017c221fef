/** Data rules for batch lines: checked when the batch is created and when a line runs. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { flushed } from '@test/usage/customer'
import { BadRequestError } from 'openai'
import { begin, chatLine, clientOf, ended, resultLines } from './world'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: ({ body }) => Response.json(chatCompletion('Yes', undefined, String(body.model))),
    catalog({ models, providers }) {
      providers.careful = { ...providers.provider1, retention: 'none', trains: false, region: 'eu' }
      const [alpha] = models
      Object.assign(alpha ?? {}, {
        targets: ['provider1', 'careful'].map((provider) => ({ provider, model: `${provider}-alpha` })),
      })
      models.push({ ...alpha, id: 'svc/beta', targets: [{ provider: 'provider1', model: 'provider1-beta' }] })
    },
  })
})
beforeEach(async () => {
  customer = await gateway.customer('10', { zeroRetention: true })
  gateway.upstream.calls.length = 0
})
afterAll(() => gateway.stop())

test('the lines of a batch call only providers that obey the data rules, and their usage records say so', async () => {
  const client = clientOf(gateway.url, customer)
  const lines = [chatLine('1'), chatLine('2', { svc: { regions: ['eu'] } })]
  const batch = await ended(client, (await begin(client, lines)).id)
  expect((await resultLines(client, batch.output_file_id)).map(({ response }) => response?.status_code)).toEqual([
    ...[200, 200],
  ])
  expect([...new Set(gateway.upstream.calls.map(({ body }) => body.model))]).toEqual(['careful-alpha'])
  await flushed(gateway, customer.accountId)
  const rows = await gateway.gateway.database
    .sql`SELECT to_json(data_rules) AS data_rules, data_terms FROM usage_records
    WHERE account_id = ${customer.accountId} ORDER BY cardinality(data_rules)`
  const terms = 'retention none, trains false, region eu'
  expect([...rows]).toEqual([
    { data_rules: ['zero-retention (key)'], data_terms: terms },
    { data_rules: ['zero-retention (key)', 'regions eu (svc.regions)'], data_terms: terms },
  ])
})

test('a batch with a line that no provider within the data rules serves is refused with the line’s number', async () => {
  const client = clientOf(gateway.url, customer)
  const refused = await begin(client, [chatLine('1'), chatLine('2', { model: 'svc/beta' })]).catch(
    (error: unknown) => error,
  )
  expect(refused).toBeInstanceOf(BadRequestError)
  expect(refused).toMatchObject({ error: { errors: { data: [{ line: 2, code: 'data_policy' }] } } })
  expect(gateway.upstream.calls).toEqual([])
})
