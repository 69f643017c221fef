/** Administrators search accounts, suspend them at once, and every action is audited. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createAccounts } from '@/accounts/accounts'
import { searchAccounts } from '@/console/administration/account-search'
import { adjustment, newDay, type Office, openOffice, pendingOrder } from './fixture'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())
beforeEach(() => newDay(office))

async function create(name: string, email = `${crypto.randomUUID()}@example.test`): Promise<string> {
  const { database, deps } = office.gateway.gateway
  const outcome = await createAccounts(database, deps.ledger).create({ name, email })
  return outcome.kind === 'created' ? outcome.accountId : ''
}

async function find(text: string): Promise<string[]> {
  const page = await office.administration.searchAccounts({ text })
  return page.items.map((item) => item.name)
}

describe('searching', () => {
  test('accounts are found by a part of address or name in any case, and by id', async () => {
    const id = await create('Quince & Sons', 'orders@quince.example')
    expect(await find('quince &')).toEqual(['Quince & Sons'])
    expect(await find('ORDERS@QUINCE')).toEqual(['Quince & Sons'])
    expect(await find(id)).toEqual(['Quince & Sons'])
    expect(await find(` ${id} `)).toEqual(['Quince & Sons'])
    expect(await find(id.slice(0, -1))).toEqual([])
  })

  test('a search for accounts takes %, _ and backslashes literally', async () => {
    await Promise.all([
      create('100% Fruit'),
      create('100 Fruit'),
      create('snake_case'),
      create('snakeXcase'),
      create('a\\b'),
    ])
    expect(await find('100%')).toEqual(['100% Fruit'])
    expect(await find('snake_case')).toEqual(['snake_case'])
    expect(await find('a\\b')).toEqual(['a\\b'])
    expect(await find('%_%_%_%')).toEqual([])
    expect(await find('%')).toEqual(['100% Fruit'])
  })

  test('a search for accounts takes quotes and other syntax as text', async () => {
    await create("O'Neil; DROP TABLE accounts")
    expect(await find("o'neil; drop")).toEqual(["O'Neil; DROP TABLE accounts"])
    expect(await find("' OR 1=1 --")).toEqual([])
  })

  test('pages of the account list contain each account once, even with equal times', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `Paged ${String(index).padStart(2, '0')}`)
    for (const name of names) await create(name)
    const { database } = office.gateway.gateway
    await database.sql`UPDATE accounts SET created_at = '2026-01-01T00:00:00.123456Z' WHERE name LIKE 'Paged 1%'`
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await searchAccounts(database, { text: 'Paged', limit: 4, ...(cursor && { cursor }) })
      seen.push(...page.items.map((item) => item.name))
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    expect(seen.toSorted()).toEqual(names)
  })

  test.each([
    '',
    'x',
    'bnVsbA',
    Buffer.from('["2026",1]').toString('base64url'),
    Buffer.from('["1; DROP", "a"]').toString('base64url'),
  ])('the cursor %j of a list of accounts is refused', async (cursor) => {
    await expect(office.administration.searchAccounts({ cursor })).rejects.toThrow('cursor is not one of this list')
  })
})

describe('an account', () => {
  test('an account is shown with balance, people, keys, entries and orders', async () => {
    const { accountId, keyId } = await office.gateway.customer('12.5')
    await office.administration.request(office.ada, adjustment(accountId, 5))
    const order = await pendingOrder(office, 20, accountId)
    const view = await office.administration.viewAccount(accountId)
    expect(view?.balance).toMatchObject({ available: 17_500_000_000, held: 0, spent: 0 })
    expect(view?.entries.map((entry) => entry.amount)).toEqual([5_000_000_000, 12_500_000_000] as never)
    expect(view?.keys.map((key) => key.keyId)).toContain(keyId)
    expect(view?.orders.map((item) => item.orderId)).toEqual([order.orderId])
    const own = await office.administration.viewAccount(office.first.viewer.accountId)
    expect(own?.users.map((user) => user.email)).toEqual([office.first.email])
    expect(await office.administration.viewAccount('acct_none')).toBeUndefined()
  })

  test('a suspended account is refused from the next request on; an activated account is served', async () => {
    const customer = await office.gateway.customer('10')
    const ask = async () => {
      const response = await fetch(`${office.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'hi' }] }),
      })
      await response.text()
      return response.status
    }
    const change = (status: 'active' | 'suspended') =>
      office.administration.changeAccountStatus(office.ada, { accountId: customer.accountId, status, reason: 'unpaid' })
    expect(await ask()).toBe(200)
    expect(await change('suspended')).toBe('updated')
    expect(await ask()).toBe(403)
    expect(await change('suspended')).toBe('updated')
    expect(await change('active')).toBe('updated')
    expect(await ask()).toBe(200)
    const audit = await office.administration.searchAudit({ subject: customer.accountId, action: 'account' })
    expect(audit.items.map((item) => item.action)).toEqual(['account.activate', 'account.suspend', 'account.create'])
    expect(audit.items[1]?.details).toEqual({ before: 'active', after: 'suspended', reason: 'unpaid' })
  })

  test('an unknown account cannot be suspended', async () => {
    const change = { accountId: 'acct_none', status: 'suspended', reason: 'x' } as const
    expect(await office.administration.changeAccountStatus(office.ada, change)).toBe('unknown_account')
  })
})

describe('the audit log', () => {
  test('the audit log can be filtered by actor, action, account and time, and paged', async () => {
    const { accountId } = await office.gateway.customer('0')
    const before = new Date()
    for (const usd of [1, 2, 3]) await office.administration.request(office.bob, adjustment(accountId, usd))
    const search = { accountId, actor: office.bob.email.toUpperCase(), action: 'credit.adjust', from: before }
    const page = await office.administration.searchAudit({ ...search, limit: 2 })
    expect(page.items.map((item) => item.details.amount)).toEqual(['3', '2'])
    expect(page.items[0]?.details).toMatchObject({ before: '3', after: '6', reason: 'a test' })
    const rest = await office.administration.searchAudit({ ...search, cursor: page.nextCursor ?? '' })
    expect(rest.items.map((item) => item.details.amount)).toEqual(['1'])
    expect((await office.administration.searchAudit({ ...search, to: before })).items).toEqual([])
    expect((await office.administration.searchAudit({ ...search, actor: office.ada.email })).items).toEqual([])
  })
})
