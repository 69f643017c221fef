/** Every example of the guide, run as written against a gateway with the sandbox provider. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { preparePython } from '@test/clients/python/environment'
import { IS_BUILD_MACHINE } from '@test/support/bare-environment'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { OPERATOR } from '@/accounts/audit'
import { createManagementKeys } from '@/accounts/management/management-keys'
import { createOperatorKeys, OPERATOR_SCOPES } from '@/accounts/management/operator-keys'
import { SCOPES } from '@/accounts/management/scopes'
import { connectDatabase } from '@/db/client'
import { assert } from '@/lib/assert'
import { GUIDE_NAMES } from './guide-files'
import { removeSnippets, runSnippet, type SnippetWorld, snippetsOf } from './snippets'

const LANGUAGES = ['sh', 'ts', 'python']
const snippets = (await Promise.all(GUIDE_NAMES.map(snippetsOf))).flat()

let gateway: GatewayProcess
let world: SnippetWorld

beforeAll(async () => {
  const databaseUrl = await freshDatabase()
  gateway = spawnGateway({ REDIS_URL: await redisUrl(), DATABASE_URL: databaseUrl, PORT: '0' })
  const [url, python] = await Promise.all([
    addressOf(gateway),
    preparePython('sdks', (line) => process.stderr.write(`${line}\n`)),
  ])
  if (python === undefined && IS_BUILD_MACHINE) throw new Error('the build machine runs the examples in Python')
  world = { url, key: demoKeyOf(gateway), ...(await makeProgramKeys(databaseUrl)), python }
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.exited()
  await removeSnippets()
})

/** A management key of the demo account and an operator key, each for everything. */
async function makeProgramKeys(databaseUrl: string): Promise<Pick<SnippetWorld, 'managementKey' | 'operatorKey'>> {
  const database = connectDatabase(databaseUrl)
  const [demo] = await database.sql<{ id: string; account_id: string }[]>`SELECT id, account_id FROM users`
  assert(demo, 'the demo account has a person')
  const key = { accountId: demo.account_id, name: 'guide', scopes: SCOPES, expiresAtMs: null, createdBy: demo.id }
  const made = await createManagementKeys(database, 'svc').create(key, OPERATOR)
  const shop = { name: 'shop', scopes: OPERATOR_SCOPES, expiresAt: null, allowedAddresses: null }
  const operator = await createOperatorKeys(database, 'svc').create(shop, OPERATOR)
  await database.close()
  assert(made.kind === 'created', 'a management key is made')
  return { managementKey: made.key, operatorKey: operator.key }
}

test('the guide has examples in each offered language, and in no other', () => {
  expect([...new Set(snippets.map(({ language }) => language))].sort()).toEqual([...LANGUAGES].sort())
})

describe.each(snippets)('$place ($language)', (snippet) => {
  test('the example works as the page shows', async () => {
    const end = await runSnippet(snippet, world)
    if (end === undefined) return
    // Where it fails, what it printed says why.
    expect({ ...end, isSilent: end.output === '' }).toEqual({ code: 0, output: end.output, isSilent: false })
    if (snippet.isRefused) expect(end.output).toContain('"error":')
  })
})

test('the shop example’s script changes nothing when it runs again', async () => {
  const script = snippets.find(({ place, language }) => place.startsWith('your-own-shop.md') && language === 'ts')
  assert(script, 'the page has the script')
  await runSnippet(script, world)
  // The credit was added once; only answers were charged.
  const end = await runSnippet(script, world)
  expect(end).toMatchObject({ code: 0, output: expect.stringMatching(/^24\.\d+ USD\. /) })
})
