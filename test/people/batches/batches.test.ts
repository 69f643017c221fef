/** Operations on batches: who sees them, reads their results and cancels them, and their audit entries. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { storeBatch } from './stored'

const OWN = '/dashboard/api/a/:accountId'
const LINES = [
  { customId: 'one', state: 'succeeded', body: { type: 'message', content: [] } },
  { customId: 'two', state: 'errored', body: { type: 'error', error: { type: 'x', message: 'Too warm.' } } },
  { customId: 'three', state: 'canceled' },
  { customId: 'four', state: 'expired' },
] as const

let gateway: TestGateway
let owner: Person
let accountId: string
let people: Record<'owner' | 'developer' | 'colleague' | 'viewer', Person>
let keyOfDeveloper: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway)
  accountId = owner.viewer.accountId
  await owner.json('POST', `${OWN}/organisation`, { name: 'Engines Ltd', country: 'GB' })
  const [developer, colleague, viewer] = [await join('developer'), await join('developer'), await join('viewer')]
  people = { owner, developer, colleague, viewer }
  keyOfDeveloper = await keyOf(developer)
})
afterAll(() => gateway.stop())

async function join(role: string): Promise<Person> {
  const person = await signUpPerson(gateway)
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${person.viewer.userId}, ${role})`
  return person
}

async function keyOf({ viewer }: Person): Promise<string> {
  const made = await gateway.apiKeys.create({ accountId, name: 'Nightly', createdBy: viewer.userId })
  if (made.kind !== 'created') throw new Error(made.kind)
  return made.keyId
}

/** A batch of the developer's key. */
function batchOfDeveloper(rest: Partial<Parameters<typeof storeBatch>[1]> = {}): Promise<string> {
  return storeBatch(gateway, {
    ...{ accountId, keyId: keyOfDeveloper, madeBy: people.developer.viewer.userId, lines: LINES },
    ...rest,
  })
}

async function call(who: keyof typeof people, path: string, method = 'GET') {
  const { status, body } = await people[who].json(
    method,
    `/dashboard/api/a/${accountId}/batches${path}`,
    method === 'GET' ? undefined : {},
  )
  return { status, body: body as Record<string, unknown> }
}

async function text(who: keyof typeof people, path: string): Promise<string> {
  const response = await people[who].fetch(`/dashboard/api/a/${accountId}/batches${path}`)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/jsonl; charset=utf-8'])
  return await response.text()
}

describe('a list of batches', () => {
  test('batches are listed newest first, in pages; a developer sees only their own', async () => {
    const mine = await batchOfDeveloper()
    const theirs = await storeBatch(gateway, {
      accountId,
      keyId: keyOfDeveloper,
      paused: 'no_credit',
      status: 'in_progress',
    })
    const idsFor = async (who: keyof typeof people, query = '') => {
      const { body } = await call(who, query)
      return [(body.items as { id: string }[]).map(({ id }) => id), body.nextCursor] as const
    }
    expect(await idsFor('viewer')).toEqual([[theirs, mine], null])
    expect(await idsFor('developer')).toEqual([[mine], null])
    expect(await idsFor('colleague')).toEqual([[], null])
    const [first, cursor] = await idsFor('owner', '?limit=1')
    expect(first).toEqual([theirs])
    expect(await idsFor('owner', `?limit=1&cursor=${cursor}`)).toEqual([[mine], null])
  })

  test('a batch is shown with its key, state, counts and amounts', async () => {
    await batchOfDeveloper({ status: 'in_progress', paused: 'no_credit' })
    const { body } = await call('viewer', '')
    expect(body.items).toEqual([
      expect.objectContaining({
        ...{ endpoint: '/v1/messages', models: ['svc/alpha'], keyId: keyOfDeveloper, keyName: 'Nightly' },
        ...{ state: 'paused', pause: 'no_credit', costUsd: '0.12', mostUsd: '3.4', endedAt: null },
        requests: { total: 4, succeeded: 1, errored: 1, canceled: 1, expired: 1 },
      }),
    ])
  })
})

describe('the results of a batch', () => {
  test('results and error messages are visible to the owner of the key and to owners of the account', async () => {
    const id = await batchOfDeveloper()
    for (const who of ['developer', 'owner'] as const) {
      const { body } = await call(who, `/${id}`)
      const errors = [{ customId: 'two', status: 400, message: 'Too warm.', requestId: 'req_1' }]
      expect(body).toMatchObject({ mayManage: true, errors })
    }
    expect((await call('viewer', `/${id}`)).body).toMatchObject({ mayManage: false, errors: [] })
    for (const file of ['output', 'errors']) {
      expect((await call('viewer', `/${id}/${file}`)).status).toBe(403)
      expect((await call('colleague', `/${id}/${file}`)).status).toBe(404)
    }
  })

  test('the files of a message batch have the lines of its results', async () => {
    const id = await batchOfDeveloper()
    expect(await text('developer', `/${id}/output`)).toBe(
      '{"custom_id":"one","result":{"type":"succeeded","message":{"type":"message","content":[]}}}\n',
    )
    const lines = (await text('owner', `/${id}/errors`)).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { custom_id: 'two', result: { type: 'errored', error: LINES[1].body } },
      { custom_id: 'three', result: { type: 'canceled' } },
      { custom_id: 'four', result: { type: 'expired' } },
    ])
  })

  test('the files of another batch have the lines of its output and error file', async () => {
    const id = await batchOfDeveloper({ endpoint: '/v1/chat/completions' })
    const [line = ''] = (await text('developer', `/${id}/output`)).split('\n')
    expect(JSON.parse(line)).toMatchObject({
      custom_id: 'one',
      response: { status_code: 200, body: { type: 'message' } },
    })
    expect(await text('developer', `/${id}/errors`)).toContain('"custom_id":"two"')
  })
})

describe('cancelling', () => {
  const RUNNING = { status: 'in_progress', lines: [{ customId: 'one', state: 'waiting' }] } as const

  test.each(['developer', 'owner'] as const)('the %s cancels a batch, which is in the audit log once', async (who) => {
    const id = await batchOfDeveloper(RUNNING)
    for (let times = 0; times < 2; times++) {
      const { status, body } = await call(who, `/${id}/cancel`, 'POST')
      expect(status).toBe(200)
      expect((body.item as { state: string }).state).toMatch(/^cancel/)
    }
    const entries = await gateway.gateway.database
      .sql`SELECT action, actor_id, account_id FROM audit_entries WHERE subject = ${id}`
    expect([...entries]).toEqual([
      { action: 'batch.cancel', actor_id: people[who].viewer.userId, account_id: accountId },
    ])
  })

  test('nobody else than the key’s owner and the account’s owner can cancel a batch', async () => {
    const id = await batchOfDeveloper(RUNNING)
    expect((await call('viewer', `/${id}/cancel`, 'POST')).status).toBe(403)
    expect((await call('colleague', `/${id}/cancel`, 'POST')).status).toBe(404)
    expect((await call('owner', `/${id}`)).body).toMatchObject({ item: { state: 'in_progress' } })
  })
})
