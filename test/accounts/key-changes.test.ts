/**
 * Changes of a key by people: name, limits, models and providers, with an audit entry each. Also the limit on keys
 * and the playground key.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { type ChangedBy, createApiKeys, MAX_KEYS_PER_ACCOUNT } from '@/accounts/api-keys'
import { verifyAuditChain } from '@/accounts/audit'
import { hashKey } from '@/accounts/key-text'
import { EVERYTHING } from '@/ledger/allowed'
import { nano } from '@/lib/money'
import { type Fixture, openFixture, SERVICE } from './fixture'
import { createTestAccount } from './test-account'

const BY: ChangedBy = { actor: { userId: 'user_1', email: 'ada@example.test' }, ip: '192.0.2.7', requestId: 'req_1' }
let fixture: Fixture
let accountId: string

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
beforeEach(async () => {
  accountId = await createTestAccount(fixture)
})
afterAll(() => fixture.close())

async function createKey(more: object = {}): Promise<string> {
  const created = await fixture.apiKeys.create({ accountId, name: 'first', ...more }, BY)
  if (created.kind !== 'created') throw new Error(created.kind)
  return created.keyId
}

type Entry = { action: string; subject: string; actor_email: string; ip: string; details: Record<string, unknown> }

function audit(): Promise<Entry[]> {
  return fixture.database.sql<Entry[]>`SELECT action, subject, actor_email, ip, details FROM audit_entries
    WHERE account_id = ${accountId} AND action LIKE 'key.%' ORDER BY seq` as Promise<Entry[]>
}

describe('a change of a key', () => {
  const LIMITS = {
    ...{ requestsPerMinute: 7, tokensPerMinute: 900, concurrency: 2, monthlyBudget: nano(5_500_000_000) },
    ...{ expiresAtMs: 4_000_000_000_000, allowedModels: ['svc/alpha', 'svc/beta'], allowedProviders: ['east'] },
  }

  test('changed limits are in history and ledger; other limits stay', async () => {
    const keyId = await createKey({ concurrency: 9 })
    const payer = { accountId, keyId }
    await fixture.ledger.readKey(payer)
    const { concurrency: _, ...others } = LIMITS
    expect(await fixture.apiKeys.change(keyId, others, accountId, BY)).toEqual({ kind: 'updated', status: 'active' })
    const expected = { ...others, concurrency: 9 }
    expect(await fixture.ledger.readKey(payer)).toMatchObject(expected)
    expect(await fixture.apiKeys.find(accountId, keyId)).toMatchObject({ ...expected, name: 'first' })
    expect(await fixture.history.key(accountId, keyId)).toMatchObject(expected)
    const none = { requestsPerMinute: null, monthlyBudget: null, expiresAtMs: null, ...EVERYTHING }
    await fixture.apiKeys.change(keyId, none, accountId, BY)
    expect(await fixture.ledger.readKey(payer)).toMatchObject({ ...none, concurrency: 9, tokensPerMinute: 900 })
  })

  test('renaming a key changes no limit', async () => {
    const keyId = await createKey(LIMITS)
    await fixture.apiKeys.change(keyId, { name: 'second' }, accountId, BY)
    expect(await fixture.apiKeys.find(accountId, keyId)).toMatchObject({ ...LIMITS, name: 'second' })
    expect(await fixture.ledger.readKey({ accountId, keyId })).toMatchObject(LIMITS)
  })

  test('changing another account’s key or a deleted key is refused', async () => {
    const keyId = await createKey()
    const { apiKeys } = fixture
    expect(await apiKeys.change(keyId, { name: 'mine' }, 'acct_other', BY)).toEqual({ kind: 'unknown_key' })
    expect(await apiKeys.find('acct_other', keyId)).toBeUndefined()
    await apiKeys.delete(keyId, accountId, BY)
    expect(await apiKeys.change(keyId, { name: 'late' }, accountId, BY)).toEqual({ kind: 'deleted' })
    expect(await apiKeys.find(accountId, keyId)).toBeUndefined()
  })

  test('a key change without fields, or with a limit out of range, changes nothing', async () => {
    const keyId = await createKey(LIMITS)
    expect(await fixture.apiKeys.change(keyId, {}, accountId, BY)).toEqual({ kind: 'updated', status: 'active' })
    for (const limit of [0, -1, 1.5, 3_000_000_000]) {
      await expect(fixture.apiKeys.change(keyId, { concurrency: limit }, accountId, BY)).rejects.toThrow('out of range')
    }
    expect(await fixture.apiKeys.find(accountId, keyId)).toMatchObject(LIMITS)
    expect((await audit()).map(({ action }) => action)).toEqual(['key.create'])
  })

  test('concurrent changes of one key give the same limits in history and ledger', async () => {
    const keyId = await createKey()
    const { apiKeys, ledger } = fixture
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => apiKeys.change(keyId, { requestsPerMinute: index + 1 }, accountId, BY)),
    )
    const kept = await apiKeys.find(accountId, keyId)
    expect((await ledger.readKey({ accountId, keyId }))?.requestsPerMinute).toBe(kept?.requestsPerMinute as number)
  })

  test('a key change that fails to reach the ledger returns an error; repeating the call updates the ledger', async () => {
    const keyId = await createKey()
    await fixture.ledger.readKey({ accountId, keyId })
    let isDown = true
    const ledger: typeof fixture.ledger = {
      ...fixture.ledger,
      setKeyState: (state) => (isDown ? Promise.reject(new Error('ledger down')) : fixture.ledger.setKeyState(state)),
    }
    const shaky = createApiKeys(fixture.database, ledger, SERVICE)
    const change = () => shaky.change(keyId, { allowedModels: ['svc/beta'] }, accountId, BY)
    await expect(change()).rejects.toThrow('ledger down')
    isDown = false
    expect(await change()).toEqual({ kind: 'updated', status: 'active' })
    expect(await fixture.ledger.readKey({ accountId, keyId })).toMatchObject({ allowedModels: ['svc/beta'] })
  })
})

describe('the audit log', () => {
  test('the audit log has each key change with the former values, but not the key’s text', async () => {
    const { apiKeys, database } = fixture
    const created = await apiKeys.create({ accountId, name: 'first', monthlyBudget: nano(1_500_000_000) }, BY)
    if (created.kind !== 'created') throw new Error(created.kind)
    const { keyId, key } = created
    await apiKeys.change(
      keyId,
      { name: 'second', monthlyBudget: nano(2e9), allowedModels: ['svc/a'], allowedProviders: ['east', 'west'] },
      accountId,
      BY,
    )
    await apiKeys.deactivate(keyId, accountId, BY)
    await apiKeys.deactivate(keyId, accountId, BY)
    await apiKeys.activate(keyId, accountId, BY)
    await apiKeys.delete(keyId, accountId)
    const entries = await audit()
    expect(entries.map(({ action }) => action)).toEqual([
      ...['key.create', 'key.change', 'key.deactivate', 'key.activate', 'key.delete'],
    ])
    expect(entries[0]).toMatchObject({ subject: keyId, actor_email: 'ada@example.test', ip: '192.0.2.7' })
    expect(entries[0]?.details).toEqual({ name: 'first', monthlyBudgetUsd: '1.5' })
    expect(entries[1]?.details).toEqual({
      ...{ name: 'first', newName: 'second', 'before.monthlyBudgetUsd': '1.5', monthlyBudgetUsd: '2' },
      ...{ 'before.allowedModels': null, allowedModels: 'svc/a', allowedModelCount: 1 },
      ...{ 'before.allowedProviders': null, allowedProviders: 'east, west' },
    })
    expect(entries[4]).toMatchObject({ actor_email: 'operator', details: { name: 'second' } })
    const everything = JSON.stringify(entries)
    for (const secret of [key, key.slice(8, -4), hashKey(key)]) expect(everything).not.toContain(secret)
    expect(await verifyAuditChain(database)).toMatchObject({ kind: 'intact' })
  })

  test('the audit log has no entry for a failed change', async () => {
    const before = await audit()
    await fixture.apiKeys.create({ accountId: 'acct_none', name: 'x' }, BY)
    await fixture.apiKeys.deactivate('key_none', accountId, BY)
    expect(await audit()).toEqual(before)
  })
})

describe('an account', () => {
  test(`an account has at most ${MAX_KEYS_PER_ACCOUNT} keys under concurrent creation, not counting deleted keys and the playground's`, async () => {
    const { apiKeys } = fixture
    await apiKeys.playgroundKey(accountId, BY)
    const wanted = Array.from({ length: MAX_KEYS_PER_ACCOUNT + 5 }, (_, index) => `key ${index}`)
    const outcomes = await Promise.all(wanted.map((name) => apiKeys.create({ accountId, name }, BY)))
    const made = outcomes.filter((outcome) => outcome.kind === 'created')
    expect(made.length).toBe(MAX_KEYS_PER_ACCOUNT)
    expect(outcomes).toContainEqual({ kind: 'too_many_keys', limit: MAX_KEYS_PER_ACCOUNT })
    await apiKeys.delete(made[0]?.keyId ?? '', accountId, BY)
    expect(await apiKeys.create({ accountId, name: 'one more' }, BY)).toMatchObject({ kind: 'created' })
  })
})

describe('the playground key', () => {
  test('concurrent requests create one playground key, and its text is stored nowhere', async () => {
    const { apiKeys, database, ledger } = fixture
    const other = createApiKeys(database, ledger, SERVICE)
    const ids = await Promise.all([apiKeys, other, apiKeys, other].map((keys) => keys.playgroundKey(accountId, BY)))
    expect(new Set(ids).size).toBe(1)
    const listed = await apiKeys.list(accountId)
    expect(listed).toMatchObject([{ keyId: ids[0], name: 'Playground', builtIn: 'playground', status: 'active' }])
    expect((await audit()).map(({ action }) => action)).toEqual(['key.create'])
  })

  test('the playground key can be limited, deactivated and activated, but not renamed or deleted', async () => {
    const { apiKeys, ledger } = fixture
    const keyId = await apiKeys.playgroundKey(accountId, BY)
    expect(await apiKeys.delete(keyId, accountId, BY)).toEqual({ kind: 'built_in' })
    expect(await apiKeys.change(keyId, { name: 'Mine' }, accountId, BY)).toEqual({ kind: 'built_in' })
    expect(await apiKeys.change(keyId, { monthlyBudget: nano(1) }, accountId, BY)).toMatchObject({ kind: 'updated' })
    expect(await apiKeys.deactivate(keyId, accountId, BY)).toEqual({ kind: 'updated', status: 'deactivated' })
    expect(await ledger.readKey({ accountId, keyId })).toMatchObject({ status: 'deactivated', monthlyBudget: nano(1) })
    expect(await apiKeys.playgroundKey(accountId, BY)).toBe(keyId)
    expect(await apiKeys.activate(keyId, accountId, BY)).toEqual({ kind: 'updated', status: 'active' })
  })

  test('an unknown account gets no playground key', async () => {
    await expect(fixture.apiKeys.playgroundKey('acct_none', BY)).rejects.toThrow()
  })
})
