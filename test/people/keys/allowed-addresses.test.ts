/** The routes of address lists of keys: their form, and that no editor locks themselves out. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import type { KeyBody } from '@/people/keys/bodies'

const KEYS = '/dashboard/api/a/:accountId/keys'
const ACCOUNT = '/dashboard/api/a/:accountId/allowed-addresses'
let gateway: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))) })
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

type Refusal = { error: { message: string; code: string | null; param: string | null } }

/** The address that tests come from. */
async function ownAddress(): Promise<string> {
  return ((await person.json('GET', ACCOUNT)).body as { ownAddress: string }).ownAddress
}

describe('the list of a key', () => {
  test('a key’s address list includes the editor’s address, and is shown in one notation', async () => {
    const own = await ownAddress()
    const allowedAddresses = [own, own, '2001:DB8::/32']
    const { status, body } = await person.json('POST', KEYS, { name: 'here', allowedAddresses })
    expect(status).toBe(200)
    const { item } = body as { item: KeyBody }
    expect(item.limits.allowedAddresses?.length).toBe(2)
    expect(item.limits.allowedAddresses).toContain('2001:db8::/32')
    const changed = await person.json('PATCH', `${KEYS}/${item.id}`, { allowedAddresses: null })
    expect(changed.body).toMatchObject({ limits: { allowedAddresses: null } })
  })

  test('a key’s address list without the editor’s address is refused, unless confirmed', async () => {
    const list = { name: 'elsewhere', allowedAddresses: ['203.0.113.0/24'] }
    const refused = await person.json('POST', KEYS, list)
    expect({ status: refused.status, error: (refused.body as Refusal).error }).toMatchObject({
      ...{ status: 400, error: { code: 'own_address_missing', param: 'allowedAddresses' } },
    })
    expect((await person.json('POST', KEYS, { ...list, withoutMyAddress: true })).status).toBe(200)
  })

  test.each([
    ['no network', ['10.1']],
    ['bits after the prefix', ['10.0.0.1/8']],
    ['an empty list', []],
    ['51 networks', Array.from({ length: 51 }, (_, index) => `10.0.0.${index}`)],
  ])('an address list refuses %s', async (_, allowedAddresses) => {
    const { status, body } = await person.json('POST', KEYS, { name: 'bad', allowedAddresses, withoutMyAddress: true })
    expect({ status, error: (body as Refusal).error }).toMatchObject({
      ...{ status: 400, error: { param: expect.stringContaining('allowedAddresses') } },
    })
  })
})

describe('the list of an account', () => {
  test('an account’s address list is shown, changed with an audit entry, and removed', async () => {
    const own = await ownAddress()
    expect((await person.json('PUT', ACCOUNT, { allowedAddresses: [own, '203.0.113.0/24'] })).status).toBe(200)
    expect((await person.json('GET', ACCOUNT)).body).toMatchObject({
      ...{ ownAddress: own, allowedAddresses: expect.arrayContaining(['203.0.113.0/24']) },
    })
    expect((await person.json('PUT', ACCOUNT, { allowedAddresses: null })).body).toMatchObject({
      allowedAddresses: null,
    })
    const entries = await gateway.gateway.database.sql`
      SELECT details FROM audit_entries WHERE action = 'account.addresses' AND account_id = ${person.viewer.accountId} ORDER BY seq`
    expect(entries.map(({ details }) => details.allowedAddresses)).toEqual([
      ...[expect.stringContaining('203.0.113.0/24'), 'everywhere'],
    ])
  })

  test('an account’s address list never locks out its editor', async () => {
    const { status, body } = await person.json('PUT', ACCOUNT, { allowedAddresses: ['203.0.113.0/24'] })
    expect({ status, error: (body as Refusal).error }).toMatchObject({
      ...{ status: 400, error: { code: 'own_address_missing' } },
    })
    expect((await person.json('GET', ACCOUNT)).body).toMatchObject({ allowedAddresses: null })
  })

  test('an account’s address list is refused behind an unknown proxy', async () => {
    const response = await person.fetch(ACCOUNT, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' },
      body: JSON.stringify({ allowedAddresses: [await ownAddress()] }),
    })
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      ...{ status: 400, body: { error: { code: 'client_addresses_unknown' } } },
    })
  })
})
