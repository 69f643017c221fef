/** Failed requests are in the list of their own account only, without their content. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { chatCompletion, eventStream } from '@test/support/upstream'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'

const SECRET = 'my dog is called Rex'

type Failure = {
  providerRequestId: string | null
  requestId: string
  status: number
  code: string
  words: string
  keyId: string
  model: string | null
}
type List = { items: Failure[]; sums: { status: number; code: string; requests: number }[] }

let gateway: TestGateway
let customer: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')) })
  customer = await signUpCustomer(gateway, '5')
})
afterAll(() => gateway.stop())

async function ask(changes: Record<string, unknown>, key = customer.key): Promise<{ id: string; status: number }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: SECRET }], ...changes }),
  })
  await response.text()
  return { id: response.headers.get('x-request-id') ?? '', status: response.status }
}

async function listOf({ person }: Pick<SignedInCustomer, 'person'>, query = ''): Promise<List> {
  await gateway.gateway.deps.failures.flush()
  return (await person.json('GET', `/dashboard/api/a/:accountId/failures${query}`)).body as List
}

test('failed requests are listed with their reason and without content', async () => {
  const { upstream } = gateway
  const poor = await signUpCustomer(gateway, '0.000001')
  const bad = await ask({ temperature: SECRET })
  const unknown = await ask({ model: SECRET })
  upstream.respond(() => Response.json({ error: { message: `Invalid: ${SECRET}` } }, { status: 400 }))
  const refused = await ask({})
  upstream.respond(() => Response.json({ error: { message: SECRET } }, { status: 500 }))
  const failed = await ask({})
  upstream.respond(() => eventStream({ error: { message: SECRET } }))
  const broken = await ask({ stream: true })
  upstream.respond(() => Response.json(chatCompletion('ok')))
  const unpaid = await ask({}, poor.key)
  expect((await ask({})).status).toBe(200)

  const { items, sums } = await listOf(customer)
  const found = new Map(items.map((item) => [item.requestId, item]))
  expect(items.length).toBe(5)
  expect([bad, unknown, refused, failed, broken].map(({ id }) => found.get(id)?.status)).toEqual([
    400, 404, 400, 502, 502,
  ])
  expect(found.get(unknown.id)).toMatchObject({ code: 'model_not_found', model: null, keyId: customer.keyId })
  expect(found.get(refused.id)).toMatchObject({ words: 'The model provider refused the request.', model: 'svc/alpha' })
  expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(5)
  expect((await listOf(poor)).items).toMatchObject([{ requestId: unpaid.id, status: 402 }])
  const rows = await gateway.gateway.database.sql`SELECT * FROM failed_requests, failed_request_counts`
  expect(JSON.stringify(rows)).not.toContain(SECRET)
})

test('a failed request is found by its id, only by its own account; the list filters by key and reason', async () => {
  const { id } = await ask({ model: 'svc/none' })
  const { items } = await listOf(customer, `?key=${customer.keyId}&status=404&code=model_not_found`)
  expect(items[0]?.requestId).toBe(id)
  expect((await listOf(customer, '?key=key_other')).items).toEqual([])
  const path = `/dashboard/api/a/:accountId/failures/${id}`
  expect((await customer.person.json('GET', path)).body).toMatchObject({ requestId: id, keyName: 'Test key' })
  const stranger = await signUpPerson(gateway)
  expect((await stranger.json('GET', path)).status).toBe(404)
  expect((await listOf({ person: stranger })).items).toEqual([])
})

test('a failed request is found by the provider’s id, only by its own account', async () => {
  const { upstream } = gateway
  const idOf = async (answer: () => Response) => {
    upstream.respond(answer)
    const { id } = await ask({})
    return { id, found: (await listOf(customer)).items.find(({ requestId }) => requestId === id)?.providerRequestId }
  }
  const refusal = (headers: Record<string, string>) => () => Response.json({ error: {} }, { status: 400, headers })
  const refused = await idOf(refusal({ 'request-id': 'prov_refused' }))
  expect(refused.found).toBe('prov_refused')
  expect((await idOf(refusal({ 'x-amzn-requestid': 'prov_cloud', 'request-id': 'two words' }))).found).toBe(
    'prov_cloud',
  )
  expect((await idOf(refusal({ 'x-request-id': 'x'.repeat(129) }))).found).toBe(null)
  expect((await idOf(() => new Response('no answer', { headers: { 'x-request-id': 'prov_malformed' } }))).found).toBe(
    'prov_malformed',
  )
  upstream.respond(() => Response.json(chatCompletion('ok')))

  const path = '/dashboard/api/a/:accountId/failures/prov_refused'
  expect((await customer.person.json('GET', path)).body).toMatchObject({ requestId: refused.id })
  const stranger = await signUpPerson(gateway)
  const foreign = await stranger.json('GET', path)
  const unknown = await stranger.json('GET', '/dashboard/api/a/:accountId/failures/prov_none')
  expect([foreign.status, unknown.status]).toEqual([404, 404])
  expect(foreign.body).toEqual(unknown.body)
})

test('administrators see failed requests of any account, other people do not', async () => {
  const { id } = await ask({ model: 'svc/none' })
  await gateway.gateway.deps.failures.flush()
  const path = `/dashboard/api/admin/accounts/${customer.accountId}/failures`
  const administrator = await signUpPerson(gateway, { role: 'admin' })
  const { items } = (await administrator.json('GET', path)).body as List
  expect(items[0]?.requestId).toBe(id)
  expect((await customer.person.json('GET', path)).status).toBe(404)
})

test('pages of failed requests contain each request once', async () => {
  for (let count = 0; count < 5; count++) await ask({ model: 'svc/none' })
  const all = (await listOf(customer)).items.map(({ requestId }) => requestId)
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = (await listOf(customer, `?limit=2${cursor && `&cursor=${cursor}`}`)) as List & {
      nextCursor: string | null
    }
    paged.push(...page.items.map(({ requestId }) => requestId))
    cursor = page.nextCursor
  }
  expect(paged).toEqual(all)
  expect((await customer.person.json('GET', '/dashboard/api/a/:accountId/failures?cursor=bogus')).status).toBe(400)
})

test('a failed request without a valid key is not listed', async () => {
  const rows = async () =>
    (await gateway.gateway.database.sql`SELECT count(*) AS rows FROM failed_request_counts`)[0]?.rows
  await gateway.gateway.deps.failures.flush()
  const before = await rows()
  expect((await ask({}, `svc-${'x'.repeat(40)}`)).status).toBe(401)
  await gateway.gateway.deps.failures.flush()
  expect(await rows()).toBe(before)
})
