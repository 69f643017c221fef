/** Commands on keys, people, credit and books work while the catalogue file has a fault. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { run } from './run'

let redis: TestServer
let stores: Record<string, string>
let folder: string

beforeAll(async () => {
  redis = await startRedis()
  stores = { REDIS_URL: redis.url, DATABASE_URL: await freshDatabase() }
  folder = await mkdtemp(join(tmpdir(), 'faulty-catalog-'))
})
afterAll(async () => {
  await redis.stop()
  await rm(folder, { recursive: true })
})

async function succeed(command: string, environment: Record<string, string>) {
  const outcome = await run(command.split(' '), environment)
  expect(outcome).toMatchObject({ code: 0, stderr: '' })
  return outcome.json
}

test('commands that need no catalogue work with a faulty one; other commands report its errors', async () => {
  const { accountId } = await succeed('account create --email f@example.test --name F', stores)
  const { keyId } = await succeed(`key create --account ${accountId} --name K --monthly-budget-usd none`, stores)
  const user = ['user', 'create', '--email', 'u@example.test']
  expect(await run(user, stores, 'a long enough passphrase, 47 times')).toMatchObject({ code: 0 })
  const path = join(folder, 'catalog.json')
  const broken = { ...stores, CATALOG: path }
  for (const text of ['{"service": "svc", "providers": 7}', '{', undefined]) {
    if (text === undefined) await rm(path)
    else await Bun.write(path, text)
    expect(await succeed(`key deactivate --key ${keyId}`, broken)).toMatchObject({ status: 'deactivated' })
    await succeed(`key activate --key ${keyId}`, broken)
    await succeed('user disable --email u@example.test', broken)
    const reference = `r${text?.length}`
    await succeed(`credit add --account ${accountId} --usd 3 --reference ${reference}`, broken)
    expect(await succeed('ledger check', broken)).toMatchObject({ ok: true })
    const refused = await run(
      ['key', 'create', '--account', String(accountId), '--name', 'L', '--monthly-budget-usd', '1'],
      broken,
    )
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(path)
  }
  expect(await succeed('key list', stores)).toMatchObject({ keys: [{ keyId }] })
})
