/** Follows the deployment page: its commands, its restore drill, and its nginx settings. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFixture } from '@test/accounts/fixture'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, redisUrl, startRedis } from '@test/support/stores'
import { until } from '@test/support/until'
import { usageRecord } from '@test/usage/sample-records'
import postgres from 'postgres'
import { freePort } from '@/boot/embedded/free-port'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { readGuide } from './guide-files'

const ROOT = join(import.meta.dir, '..', '..', '..')
const USD = 1_000_000_000
const page = await readGuide('deploy')
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guide-deploy-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The blocks of the page with these words behind their fences. */
function blocks(words: string): string[] {
  return [...page.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
    .filter((block) => block[1] === words)
    .map((block) => block[2] ?? '')
}

/** Runs a line as an operator's shell does, and gives what it printed. */
async function runLine(line: string, stores: Record<string, string>): Promise<Record<string, unknown>> {
  const child = Bun.spawn(['sh', '-c', line.replace('svc admin', `${process.execPath} src/cli/main.ts`)], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...stores, NEW_PASSWORD: 'a horse on a battery' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ line, stderr, code: await child.exited }).toEqual({ line, stderr: '', code: 0 })
  return JSON.parse(stdout)
}

const linesOf = (words: string) => blocks(words).flatMap((block) => block.split('\n').filter(Boolean))

test('the commands of the deployment page work', async () => {
  const stores = { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase() }
  await (await openFixture(stores.REDIS_URL, stores.DATABASE_URL)).close()
  const lines = linesOf('sh operator')
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) {
    const answer = await runLine(line, stores)
    if (line.includes('user list'))
      expect(answer).toMatchObject({ users: [{ email: 'grace@example.com', role: 'admin' }] })
    if (line.includes('account search')) expect(answer).toMatchObject({ accounts: [{ email: 'ada@example.com' }] })
  }
})

test('the restore drill works: a copy of the database and an empty Redis have correct books', async () => {
  const database = await freshDatabase()
  const fixture = await openFixture(await redisUrl(), database)
  const account = await fixture.accounts.create({ email: 'ada@example.com', name: 'Ada' })
  const accountId = account.kind === 'created' ? account.accountId : ''
  await fixture.credits.addCredit({ accountId, amount: nano(10 * USD), reference: 'invoice-1' })
  const facts = { requestId: 'req_1' }
  const costs = { cost: USD / 4, held: USD / 2, atMs: Date.now() }
  await writeUsageBatch(fixture.database.sql, [
    usageRecord({ recordId: 'req_1', holdId: 'req_1', accountId, keyId: 'key_1', facts, ...costs }),
  ])
  await fixture.close()
  const restored = await copyOf(database)
  const redis = await startRedis()
  const stores = { REDIS_URL: redis.url, DATABASE_URL: restored }
  const lines = linesOf('sh drill')
  expect(lines).toHaveLength(3)
  const [rebuilt, ...checks] = lines
  expect(await runLine(rebuilt ?? '', stores)).toEqual({ accounts: 1 })
  for (const line of checks) expect(await runLine(line, stores)).toMatchObject({ ok: true })
  expect(await runLine('svc admin account show ada@example.com', stores)).toMatchObject({ balanceUsd: '9.75' })
  await redis.stop()
})

/** Stands for a backup that was restored: all of the database, and nothing of Redis. */
async function copyOf(address: string): Promise<string> {
  const target = new URL(address)
  const source = target.pathname.slice(1)
  target.pathname = '/postgres'
  const sql = postgres(target.href, { max: 1 })
  await sql.unsafe(`CREATE DATABASE ${source}_restored TEMPLATE ${source}`)
  await sql.end()
  target.pathname = `/${source}_restored`
  return target.href
}

describe('nginx with the settings of the page', () => {
  let release: (() => void) | undefined
  let seen: Headers | undefined
  let proxy: Bun.Subprocess
  let behind: ReturnType<typeof Bun.serve>
  let address: string

  beforeAll(async () => {
    behind = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
    const port = await freePort()
    address = `https://127.0.0.1:${port}`
    const certificate = join(folder, 'gateway')
    const subject = ['-subj', '/CN=gateway', '-keyout', `${certificate}.key`, '-out', `${certificate}.pem`]
    const made = Bun.spawn(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], {
      stderr: 'ignore',
    })
    expect(await made.exited).toBe(0)
    const settings = (blocks('nginx proxy')[0] ?? '')
      .replace('127.0.0.1:3000', `127.0.0.1:${behind.port}`)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replaceAll('/etc/ssl/gateway', certificate)
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const file = join(folder, 'nginx.conf')
    const program = Bun.which('nginx') ?? '/usr/sbin/nginx'
    const head = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;\nevents {}\n`
    await writeFile(file, `${head}http {\naccess_log off;\n${places.join('\n')}\n${settings}}\n`)
    proxy = Bun.spawn([program, '-c', file, '-p', folder], { stdout: 'ignore', stderr: 'inherit' })
    await until(
      () =>
        ask('/healthz').then(
          (response) => response.ok,
          () => false,
        ),
      'nginx',
    )
  })
  afterAll(async () => {
    proxy.kill()
    await proxy.exited
    await behind.stop(true)
  })

  function answer(request: Request): Response {
    seen = request.headers
    if (!request.url.endsWith('/stream')) return new Response('ok')
    const pieces = new ReadableStream({
      start(controller) {
        controller.enqueue('data: one\n\n')
        release = () => {
          controller.enqueue('data: two\n\n')
          controller.close()
        }
      },
    })
    return new Response(pieces, { headers: { 'content-type': 'text/event-stream' } })
  }

  const ask = (path: string, headers = {}) => fetch(address + path, { headers, tls: { rejectUnauthorized: false } })

  test('nginx with the page’s settings relays each chunk of a stream at once', async () => {
    const reader = (await ask('/stream')).body?.getReader()
    const first = await reader?.read()
    expect(new TextDecoder().decode(first?.value)).toBe('data: one\n\n')
    release?.()
    const second = await reader?.read()
    expect(new TextDecoder().decode(second?.value)).toBe('data: two\n\n')
  })

  test('nginx sends the real client address, whatever the client sends, and hides the operator’s paths', async () => {
    expect((await ask('/v1/models', { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200)
    expect(seen?.get('x-forwarded-for')).toBe('127.0.0.1')
    for (const path of ['/metrics', '/readyz']) expect((await ask(path)).status).toBe(404)
  })
})
