/** Runs every command line of the operator's documentation as written, in order; each command has an example. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { addressOf, spawnGateway } from '@test/boot/process'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import type { ScriptedUpstream } from '@test/support/upstream'
import { usageRecord } from '@test/usage/sample-records'
import { writeUsageBatch } from '@/usage/write-batch'
import { KEY, startListingProvider } from './listing-provider'
import { run } from './run'

const ROOT = join(import.meta.dir, '..', '..')
const COMMAND = 'bun run admin '

let redis: TestServer
let stores: Record<string, string>
let fixture: Fixture
let lines: string[]
let provider: ScriptedUpstream
let folder: string

beforeAll(async () => {
  provider = startListingProvider('openai', 'chat-completions', ['gpt-6.1-sol'])
  folder = await mkdtemp(join(tmpdir(), 'documented-commands-'))
  redis = await startRedis()
  const databaseUrl = await freshDatabase()
  stores = { REDIS_URL: redis.url, DATABASE_URL: databaseUrl }
  fixture = await openFixture(redis.url, databaseUrl)
  const text = await Bun.file(join(ROOT, 'docs', 'operations', 'commands.md')).text()
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'))
  lines = blocks.filter((line) => line.includes(COMMAND))
})
afterAll(async () => {
  provider.stop()
  await fixture.close()
  await redis.stop()
  await rm(folder, { recursive: true })
})

/** What the ids of the documentation stand for, as the commands before have made them. */
const ids: Record<string, string> = { order_: 'order_1', req_: 'req_1' }
/** What each command has printed. */
const answers: Record<string, Record<string, unknown>> = {}

/** One of the rows of `catalog presets`. */
const PRESET = {
  name: 'groq',
  format: 'chat-completions',
  baseUrl: 'https://api.groq.com/openai/v1',
  auth: 'as the format has it',
  quirks: ['no-allowed-tools'],
  usage: 'the last chunk with a choice, and again in x_groq',
  reasoning: 'reasoning',
  notes: expect.any(String),
}

test('every documented command line works', async () => {
  expect(lines.length).toBeGreaterThan(30)
  for (const line of lines) {
    const real = line
      .replaceAll(/\b(acct_|key_|opkey_|order_|req_|mgmt_)…/g, (_, prefix: string) => ids[prefix] ?? 'missing')
      .replaceAll('openai.json', join(folder, 'openai.json'))
    const json = await (line.includes('catalog reload')
      ? whileGatewayRuns(() => runLine(real))
      : runLine(real, { PROVIDER1_API_KEY: KEY, PROVIDER1_BASE_URL: provider.url }))
    const words = / admin ([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)?)/.exec(line)?.[1] ?? ''
    answers[words] = json
    if (typeof json.keyId === 'string' && words === 'key create') ids.key_ = json.keyId
    if (typeof json.keyId === 'string' && words === 'management-key create') ids.mgmt_ = json.keyId
    if (typeof json.keyId === 'string' && words === 'operator-key create') ids.opkey_ = json.keyId
    if (words === 'account create') await furnish(String(json.accountId))
  }
})

test('each documented command has the documented result', () => {
  expect(answers['account list']).toMatchObject({ accounts: [{ email: 'ada@example.com', balanceUsd: '-0.25' }] })
  expect(answers['account search']).toMatchObject({ accounts: [{ accountId: ids.acct_ }], nextCursor: null })
  expect(answers['account show']).toMatchObject({
    accountId: ids.acct_,
    name: 'Ada Lovelace',
    orders: [{ orderId: 'order_1' }],
  })
  expect(answers['credit add']).toEqual({ balanceUsd: 9.75 })
  expect(answers['key list']).toMatchObject({ keys: [{ keyId: ids.key_, email: 'ada@example.com', status: 'active' }] })
  expect(answers['key search']).toMatchObject({ keys: [{ keyId: ids.key_ }] })
  expect(answers['key show']).toMatchObject({ keyId: ids.key_, requestsPerMinute: 60, monthlyBudgetUsd: '25' })
  // The last of them is that of a member.
  expect(answers['account key-policy']).toMatchObject({
    ...{ email: 'grace@example.com', allowedModels: ['svc/alpha'], allowedProviders: null, noTraining: true },
  })
  expect(answers['management-key list']).toMatchObject({
    keys: [{ keyId: ids.mgmt_, scopes: 'keys:write,usage:read' }],
  })
  expect(answers['operator-key list']).toMatchObject({
    keys: [{ keyId: ids.opkey_, name: 'shop', scopes: 'accounts,credit,keys,read' }],
  })
  expect(answers['user list']).toMatchObject({ users: [{ email: 'grace@example.com', role: 'member' }] })
  expect(answers['user show']).toMatchObject({
    role: 'member',
    isEmailVerified: true,
    isTotpEnabled: false,
    sessions: 0,
  })
  expect(answers['order list']).toMatchObject({
    orders: [{ orderId: 'order_1', amountUsd: '25.00', state: 'pending' }],
  })
  expect(answers['order show']).toMatchObject({ reference: 'SVC-7K3M-9QXP', email: 'ada@example.com', payments: [] })
  expect(answers.usage).toMatchObject({
    total: { requests: 1, inputTokens: 127, outputTokens: 50, chargedUsd: '0.25' },
    usage: [{ account: ids.acct_, requests: 1 }],
  })
  expect(answers['request show']).toMatchObject({
    requestId: 'req_1',
    accountId: ids.acct_,
    costUsd: '0.25',
    rule: 'usage',
  })
  expect(answers['ledger check']).toMatchObject({ ok: true, accounts: 2 })
  expect(answers['audit list']).toMatchObject({ entries: [{ action: 'credit.add', actor: 'operator' }] })
  expect(answers['audit verify']).toMatchObject({ ok: true, headHash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(answers['catalog check']).toMatchObject({ ok: true, faults: [], losses: [] })
  expect(answers['catalog presets']).toMatchObject({ presets: expect.arrayContaining([PRESET]) })
  expect(answers['catalog suggest']).toMatchObject({
    ...{ file: join(folder, 'openai.json'), provider: 'openai', marginPercent: 20 },
    ...{ listed: 1, models: 1, unknown: 0, retired: 0 },
  })
  expect(answers['provider test']).toMatchObject({ ok: true, provider: 'provider1', faults: [] })
  expect(answers['catalog reload']).toMatchObject({ ok: true, processes: [{ state: 'taken' }], changes: [] })
})

test('every command has a documented example', async () => {
  const { stdout } = await run(['help'], {})
  const known = [...stdout.matchAll(/^ {2}([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)?)(?= |$)/gm)].map(
    ([, words = '']) => words,
  )
  expect(known.length).toBeGreaterThan(30)
  const withoutExample = known.filter((words) => !lines.some((line) => `${line} `.includes(`${COMMAND}${words} `)))
  // They need a payment at Stripe, or a statement: test/console/http/deposits/stripe.test.ts and test/cli/statements.test.ts run them.
  expect(withoutExample).toEqual(['order settle', 'statement preview', 'statement import'])
})

/** For what is said to gateways. */
async function whileGatewayRuns<T>(work: () => Promise<T>): Promise<T> {
  const gateway = spawnGateway({ ...stores, PORT: '0', DEMO_ACCOUNT: 'off' })
  await addressOf(gateway)
  const done = await work()
  gateway.kill('SIGINT')
  expect(await gateway.exited()).toBe(0)
  return done
}

/** As a shell runs it, with the name of the program instead of the script that starts it. */
async function runLine(line: string, environment: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const child = Bun.spawn(['sh', '-c', line.replace(COMMAND, `${process.execPath} src/cli/main.ts `)], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...stores, ...environment, NEW_PASSWORD: 'a horse on a battery' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const code = await child.exited
  // Where it fails, what it printed says why.
  expect({ line, stderr, code, stdout }).toEqual({ line, stderr: '', code: 0, stdout })
  return JSON.parse(stdout)
}

/** What customers do themselves: an order, and a request that cost a quarter of a dollar. */
async function furnish(accountId: string): Promise<void> {
  ids.acct_ = accountId
  await fixture.database.sql`INSERT INTO orders (id, account_id, method, reference, amount_cents, currency, state,
    created_at, expires_at, updated_at) VALUES ('order_1', ${accountId}, 'bank_transfer', 'SVC-7K3M-9QXP', 2500, 'USD',
    'pending', now(), now() + interval '14 days', now())`
  const facts = { requestId: 'req_1' }
  const record = {
    recordId: 'req_1',
    holdId: 'req_1',
    accountId,
    keyId: 'key_1',
    atMs: Date.now(),
    cost: 250_000_000,
    held: 500_000_000,
    facts,
  }
  await writeUsageBatch(fixture.database.sql, [usageRecord(record)])
}
