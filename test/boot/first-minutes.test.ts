/** The first minutes of a new operator: a taken port, wrong settings, the banner, the key shown once, and sign-in. */
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFixture } from '@test/accounts/fixture'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { nano } from '@/lib/money'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from './process'

const ROOT = join(import.meta.dir, '..', '..')
const folders: string[] = []

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'first-minutes-'))
  folders.push(folder)
  return folder
}

async function externalStores() {
  return { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), PORT: '0' }
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
}

function takePort(): { port: string; free(): Promise<void> } {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('somebody else') })
  return { port: String(server.port), free: () => server.stop(true) }
}

function credits(address: string, key: string): Promise<Record<string, number>> {
  return fetch(`${address}/v1/usage`, { headers: { 'x-api-key': key } }).then((response) => response.json())
}

describe('a start on a taken port', () => {
  test.each(['1', '2'])(
    'a start on a taken port prints one error line with PORT, and creates nothing (PROCESSES=%s)',
    async (processes) => {
      const { port, free } = takePort()
      const dataDir = join(await newFolder(), 'data')
      const gateway = spawnGateway({ PORT: port, DATA_DIR: dataDir, PROCESSES: processes })
      expect(await gateway.exited()).toBe(1)
      expect(gateway.output()).toBe(
        `PORT: ${port} is taken on 127.0.0.1 by another program: stop that one, or set PORT to another port\n`,
      )
      expect(existsSync(dataDir)).toBe(false)
      await free()
    },
  )

  test('after a failed start on a taken port, the next start shows the demo key', async () => {
    const { port, free } = takePort()
    const environment = { ...(await externalStores()), PORT: port }
    expect(await spawnGateway(environment).exited()).toBe(1)
    await free()
    const gateway = spawnGateway(environment)
    const address = await addressOf(gateway)
    expect((await credits(address, demoKeyOf(gateway))).credits_remaining).toBe(10)
    await stop(gateway)
  })

  test.each([
    ['no.such.host.example', 'HOST: there is no address for no.such.host.example\n'],
    ['192.0.2.1', 'HOST: 192.0.2.1 is no address of this machine\n'],
  ])('a HOST that is another machine’s address (%s) is one error line', async (host, line) => {
    const gateway = spawnGateway({ HOST: host, PORT: '0', DATA_DIR: join(await newFolder(), 'data') })
    expect(await gateway.exited()).toBe(1)
    expect(gateway.output()).toBe(line)
  })
})

test('the next start completes an interrupted first start, with a key and ten dollars', async () => {
  const environment = {
    ...(await externalStores()),
    ADMIN_EMAIL: 'root@example.test',
    ADMIN_PASSWORD: 'a horse on a battery',
  }
  const {
    accounts,
    apiKeys,
    credits: books,
    close,
  } = await openFixture(environment.REDIS_URL, environment.DATABASE_URL)
  const account = await accounts.create({ email: 'demo@localhost.example', name: 'Demo' })
  const accountId = account.kind === 'created' ? account.accountId : ''
  await books.addCredit({ accountId, amount: nano(10_000_000_000), reference: 'demo-credit' })
  const unseen = await apiKeys.create({ accountId, name: 'demo' })
  await close()
  const gateway = spawnGateway(environment)
  const address = await addressOf(gateway)
  const key = demoKeyOf(gateway)
  expect((await credits(address, key)).credits_remaining).toBe(10)
  const lost = await fetch(`${address}/v1/usage`, {
    headers: { 'x-api-key': unseen.kind === 'created' ? unseen.key : '' },
  })
  expect(lost.status).toBe(401)
  await stop(gateway)
})

describe('the banner of a start', () => {
  test.each(['1', '2'])(
    'the banner is printed in one piece, without log lines in it (PROCESSES=%s)',
    async (processes) => {
      const { port, free } = takePort()
      await free()
      const gateway = spawnGateway({ ...(await externalStores()), PORT: port, PROCESSES: processes })
      const lastLine = await until(
        () => /New password.*\n\n|A new password.*\n\n/.exec(gateway.output()),
        'the whole banner',
      )
      const from = gateway.output().indexOf('svc-gateway is ready')
      const banner = gateway.output().slice(from, (lastLine?.index ?? 0) + (lastLine?.[0].length ?? 0))
      expect(banner).toContain('Its API key, shown only now:')
      expect(banner).not.toContain('{"time"')
      // Whoever reads it can call: all processes listen.
      expect([
        ...gateway
          .output()
          .slice(0, from)
          .matchAll(/"event":"listening"/g),
      ]).toHaveLength(Number(processes))
      await stop(gateway)
    },
  )
})

test('a second start on data in use prints one error line; a later banner explains sign-in', async () => {
  const dataDir = join(await newFolder(), 'data')
  const first = spawnGateway({ PORT: '0', DATA_DIR: dataDir })
  await addressOf(first)
  const second = spawnGateway({ PORT: '0', DATA_DIR: dataDir })
  expect(await second.exited()).toBe(1)
  expect(second.output()).toBe(
    `DATA_DIR: ${dataDir} is in use by another running gateway: stop that one, or give this one its own\n`,
  )
  await stop(first)
  const later = spawnGateway({ PORT: '0', DATA_DIR: dataDir })
  const address = await addressOf(later)
  const [, newKey = '', newPassword = ''] = /A new key +(.*)\n +A new password +(.*)\n/.exec(later.output()) ?? []
  const shell = (line: string, input: string) =>
    Bun.spawnSync(['sh', '-c', line], { cwd: ROOT, env: BARE_ENVIRONMENT, stdin: Buffer.from(input) })
  const made = JSON.parse(shell(newKey, '').stdout.toString()) as { key: string }
  expect((await credits(address, made.key)).credits_remaining).toBe(10)
  expect(shell(newPassword, 'a new horse entirely\n').exitCode).toBe(0)
  const signIn = await fetch(`${address}/dashboard/api/session/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: address },
    body: JSON.stringify({ email: 'demo@localhost.example', password: 'a new horse entirely' }),
  })
  expect(signIn.status).toBe(200)
  await stop(later)
})
