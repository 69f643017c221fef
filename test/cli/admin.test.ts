/** The operator commands as an operator runs them: as processes, on real stores. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { addToStored } from '@test/ledger/store/stored'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { isWellFormedKey } from '@/accounts/key-text'
import { accountName } from '@/ledger/store/names'
import { nano } from '@/lib/money'
import { type Outcome, run } from './run'

let redis: TestServer
let databaseUrl: string
let stores: Record<string, string>
let fixture: Fixture

beforeAll(async () => {
  redis = await startRedis()
  databaseUrl = await freshDatabase()
  stores = { REDIS_URL: redis.url, DATABASE_URL: databaseUrl }
  fixture = await openFixture(redis.url, databaseUrl)
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

describe('the commands for a customer', () => {
  let accountId = ''
  let keyId = ''

  test('account create makes an account', async () => {
    const { json } = await succeed('account create --email ada@example.test', '--name', 'Ada Lovelace')
    accountId = String(json.accountId)
    expect(await fixture.accounts.find(accountId)).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.test' })
    expect((await refuse('account create --email ADA@example.test --name Again')).stderr).toContain('exists already')
  })

  test('credit add credits once per reference', async () => {
    const add = `credit add --account ${accountId} --usd 10.00 --reference invoice-1`
    expect((await succeed(add)).json).toEqual({ balanceUsd: 10 })
    expect((await succeed(add)).json).toEqual({ balanceUsd: 10 })
    expect((await succeed(`credit add --account ${accountId} --usd -0.5 --reference refund`)).json).toEqual({
      balanceUsd: 9.5,
    })
    const other = await refuse(`credit add --account ${accountId} --usd 11 --reference invoice-1`)
    expect(other.stderr).toBe('the reference invoice-1 was used for 10 USD\n')
    expect(await fixture.ledger.readBalance(accountId)).toMatchObject({ available: 9_500_000_000 })
  })

  test('credit add refuses another account’s reference unless allowed', async () => {
    const { json } = await succeed('account create --email eve@example.test --name Eve')
    const add = `credit add --account ${json.accountId} --usd 10.00 --reference invoice-1`
    const refused = await refuse(add)
    expect(refused.stderr).toContain(`the reference invoice-1 was used for the account ${accountId}`)
    expect((await refuse(`${add} --other-accounts perhaps`, 2)).stderr).toContain('--other-accounts')
    expect((await succeed(`${add} --other-accounts allow`)).json).toEqual({ balanceUsd: 10 })
    expect((await succeed(add)).json).toEqual({ balanceUsd: 10 })
  })

  test('key create makes a key without a budget', async () => {
    const { json } = await succeed(`key create --account ${accountId} --name unlimited`)
    expect(await fixture.ledger.readKey({ accountId, keyId: String(json.keyId) })).toMatchObject({
      monthlyBudget: null,
    })
  })

  test('key create makes a key with limits, and shows it once', async () => {
    const { json } = await succeed(
      `key create --account ${accountId} --name ci --requests-per-minute 7 --tokens-per-minute 900 --concurrency 3`,
      '--monthly-budget-usd',
      '2.5',
    )
    keyId = String(json.keyId)
    expect(isWellFormedKey(String(json.key), 'svc')).toBe(true)
    expect(await fixture.ledger.readKey({ accountId, keyId })).toMatchObject({
      ...{ status: 'active', requestsPerMinute: 7, tokensPerMinute: 900, concurrency: 3, monthlyBudget: 2_500_000_000 },
    })
  })

  test('account limits are set; a key with higher limits raises them; each change is in the audit log', async () => {
    const set = `account limits --account ${accountId} --reason contract`
    const catalogue = { tokensPerMinute: 2_000_000, concurrency: 200 }
    expect((await succeed(`${set} --requests-per-minute 900`)).json).toEqual({
      ...{ accountId, requestsPerMinute: 900 },
      ...catalogue,
    })
    await succeed(
      `key create --account ${accountId} --name fast --monthly-budget-usd none --requests-per-minute 5000 --concurrency 100`,
    )
    expect(await fixture.accounts.find(accountId)).toMatchObject({ requestsPerMinute: 5_000, concurrency: null })
    expect((await succeed(`${set} --requests-per-minute default`)).json.requestsPerMinute).toBe(600)
    expect((await refuse(`${set} --requests-per-minute 0`, 2)).stderr).toContain('--requests-per-minute')
    expect((await refuse('account limits --account acct_none --concurrency 1 --reason r')).stderr).toContain(
      'acct_none',
    )
    const entries = await fixture.database
      .sql`SELECT details FROM audit_entries WHERE action = 'account.limits' ORDER BY seq`
    expect(entries.map(({ details }) => details)).toEqual([
      { requestsPerMinute: 900, 'before.requestsPerMinute': null, reason: 'contract' },
      { requestsPerMinute: 5_000, 'before.requestsPerMinute': 900, reason: 'for the key fast' },
      { requestsPerMinute: null, 'before.requestsPerMinute': 5_000, reason: 'contract' },
    ])
  })

  test('key rotate shows the new text once, and how long the former text works', async () => {
    const { json } = await succeed(`key rotate --key ${keyId} --overlap 7d`)
    expect(json).toMatchObject({ keyId, key: expect.stringMatching(/^svc-[0-9A-Za-z]{36}$/) })
    const formerEndsAtMs = Date.parse(String(json.formerEndsAt))
    expect(await fixture.ledger.readKey({ accountId, keyId })).toMatchObject({ secrets: { latest: 2, formerEndsAtMs } })
    expect((await refuse(`key rotate --key ${keyId} --overlap 31d`, 2)).stderr).toContain(
      '--overlap must be 0, or a number',
    )
    expect((await refuse('key rotate --key key_none')).stderr).toBe('there is no key of that id\n')
  })

  test('key deactivate, activate and delete take effect at once', async () => {
    const steps = [
      ['deactivate', 'deactivated'],
      ['activate', 'active'],
      ['delete', 'deleted'],
    ] as const
    for (const [verb, status] of steps) {
      expect((await succeed(`key ${verb} --key ${keyId}`)).json).toEqual({ keyId, status })
      expect((await fixture.ledger.readKey({ accountId, keyId }))?.status).toBe(status)
    }
    expect((await refuse(`key activate --key ${keyId}`)).stderr).toBe(`the key ${keyId} was deleted\n`)
  })

  test('account suspend and activate take effect at once', async () => {
    await succeed(`account suspend --account ${accountId}`)
    expect((await fixture.ledger.readBalance(accountId))?.status).toBe('suspended')
    await succeed(`account activate --account ${accountId}`)
    expect((await fixture.ledger.readBalance(accountId))?.status).toBe('active')
  })

  test('ledger check finds and names damage, and ledger rebuild repairs it', async () => {
    const sound = await succeed('ledger check')
    expect(sound.json).toEqual({ ok: true, violations: [], accounts: 2, openHolds: 0, unsyncedEvents: 0 })
    await addToStored(fixture.redis, 'account', accountName(accountId), { available: 77 })
    const damaged = await run(['ledger', 'check'], stores)
    expect(damaged).toMatchObject({
      code: 1,
      json: { ok: false, violations: [{ kind: 'balance_differs', accountId }] },
    })
    expect((await succeed('ledger rebuild')).json).toEqual({ accounts: 2 })
    expect((await succeed('ledger check')).json.ok).toBe(true)
    await fixture.database.sql`UPDATE accounts SET balance_nano = balance_nano + 1`
    const drifted = await run(['ledger', 'check'], stores)
    expect(JSON.stringify(drifted.json.violations)).toContain('history_balance_differs')
    expect(drifted.code).toBe(1)
    await fixture.database.sql`UPDATE accounts SET balance_nano = balance_nano - 1`
    expect(await fixture.ledger.readBalance(accountId)).toMatchObject({ available: nano(9_500_000_000) })
  })

  test('user create stores an argon2id hash and no password', async () => {
    const create = ['user', 'create', '--email', 'root@example.test', '--role', 'admin']
    const { json } = await run(create, stores, 'correct horse\n')
    const [user] = await fixture.database.sql`SELECT role, email_verified, account_id, password_hash
      FROM users JOIN credentials ON user_id = users.id WHERE users.id = ${String(json.userId)}`
    expect(user).toMatchObject({ email_verified: true, account_id: expect.stringMatching(/^acct_/) })
    expect(user?.role).toBe('admin')
    expect(user?.password_hash).toStartWith('$argon2id$')
    expect(await Bun.password.verify('correct horse', user?.password_hash)).toBe(true)
    const again = await run(['user', 'create', '--email', 'ROOT@example.test'], stores, 'battery staple')
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') })
  })
})

describe('refused commands', () => {
  test.each([
    ['frobnicate', 'unknown command "frobnicate"'],
    ['account', 'unknown command "account"'],
    ['account create --email a@example.test', 'account create needs --name'],
    ['account create --email nobody --name x', '--email must be an e-mail address'],
    ['account create --email a@example.test --name x --colour red', "Unknown option '--colour'"],
    ['credit add --account acct_none --usd 1 --reference r', 'no account acct_none'],
    ['credit add --account a --usd 1e3 --reference r', '--usd must be an amount in USD'],
    ['credit add --account a --usd 0.0000000001 --reference r', '--usd must be an amount in USD'],
    ['credit add --account a --usd 0 --reference r', '--usd must be an amount in USD'],
    ['credit add --account a --usd nan --reference r', '--usd must be an amount in USD'],
    ['key create --account acct_none --name x', 'no account acct_none'],
    [
      'key create --account a --name x --monthly-budget-usd 1 --concurrency 0',
      '--concurrency must be an integer from 1 to',
    ],
    [
      'key create --account a --name x --monthly-budget-usd 1 --concurrency 1.5',
      '--concurrency must be an integer from',
    ],
    ['key create --account a --name x --monthly-budget-usd -1', '--monthly-budget-usd must be an amount'],
    ['key create --account a --name x --monthly-budget-usd unlimited', '--monthly-budget-usd must be an amount'],
    ['key delete --key key_none', 'there is no key of that id'],
    ['user create --email a@example.test --password longenough', 'a password is read from standard input, never from'],
    ['user create --password=longenough --email a@example.test', 'a password is read from standard input, never from'],
    ['user create --email a@example.test', 'a password is expected on standard input'],
    ['user create --email a@example.test --role king', '--role must be one of member, admin'],
    ['user set-password --email nobody@example.test', 'a password is expected on standard input'],
    ['user reset-2fa --email nobody@example.test', 'no user with the address nobody@example.test'],
    ['user set-role --email nobody@example.test --role king', '--role must be one of member, admin'],
    ['user disable --email nobody@example.test', 'no user with the address nobody@example.test'],
    ['account lst', 'unknown command "account lst"; did you mean "account list"?'],
    ['key', 'after "key" comes one of list, search, show, create, '],
    ['account show', 'account show needs ID|EMAIL'],
    ['account show one two', 'account show does not take "two"'],
    ['account list surplus', 'account list does not take "surplus"'],
    ['account list --status gone', '--status must be one of active, suspended'],
    ['account show nobody@example.test', 'no account nobody@example.test'],
    ['account list --cursor odd', 'cursor'],
    ['key show key_none', 'there is no key of that id'],
    ['account key-policy --account acct_none --providers nobody', 'there is no provider nobody'],
    [
      'account key-policy --account acct_none --email eve@example.test',
      'no member of account acct_none has the address',
    ],
    [
      'account key-policy --account acct_none --email eve@example.test --max-age-days 9',
      '--max-age-days is of all keys',
    ],
    ['user show nobody@example.test', 'no user nobody@example.test'],
    ['order show SVC-0000-0000', 'no order SVC-0000-0000'],
    ['request show req_none', 'no request req_none'],
    ['usage --by colour', '--by must be one of day, model, account, key'],
    ['catalog check /no/such/file.json', 'cannot read /no/such/file.json'],
  ])('a command is refused: %s', async (line, message) => {
    // What is refused once the stores were asked is told from what was not even tried.
    const isRefusal = /^(no |there is no |cannot read )/.test(message)
    const { stdout, stderr } = await refuse(line, isRefusal ? 1 : 2)
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stdout).toBe('')
  })

  test('a command that cannot reach a store names the store, and shows no secret', async () => {
    const nowhere = { REDIS_URL: 'redis://:hidden-word@127.0.0.1:1', DATABASE_URL: databaseUrl }
    const noRedis = await run(['ledger', 'check'], nowhere)
    expect(noRedis).toMatchObject({ code: 2, stdout: '' })
    expect(noRedis.stderr).toContain('cannot use Redis')
    const noPostgres = await run(['ledger', 'check'], {
      ...stores,
      DATABASE_URL: 'postgres://u:hidden-word@127.0.0.1:1/x',
    })
    expect(noPostgres.stderr).toContain('cannot use Postgres')
    expect(noRedis.stderr + noPostgres.stderr).not.toContain('hidden-word')
  })

  test('a command with a faulty setting names the setting', async () => {
    expect((await run(['ledger', 'check'], { ...stores, PORT: 'eighty' })).stderr).toContain('PORT')
  })
})

test('without arguments the help lists every command, and needs no store', async () => {
  for (const args of [[], ['help'], ['--help']]) {
    const { code, stdout } = await run(args, { REDIS_URL: 'redis://127.0.0.1:1' })
    expect(code).toBe(0)
    for (const words of [
      'account create',
      'credit add',
      'key create',
      'ledger check',
      'ledger rebuild',
      'user create',
    ]) {
      expect(stdout).toContain(words)
    }
  }
  expect((await run(['key', 'create', '--help'], {})).stdout).toContain('--monthly-budget-usd')
})

async function succeed(line: string, ...more: string[]): Promise<Outcome> {
  const outcome = await run([...line.split(' '), ...more], stores)
  expect(outcome).toMatchObject({ code: 0, stderr: '' })
  return outcome
}

async function refuse(line: string, code = 1): Promise<Outcome> {
  const outcome = await run(line.split(' '), stores)
  expect(outcome).toMatchObject({ code, stdout: '' })
  return outcome
}
