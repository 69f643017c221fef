/** Which stores a command uses: those of a running gateway, or those that it starts itself. Slow: each case starts stores. */
import { expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFixture } from '@test/accounts/fixture'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { runProcess } from './run'

const ROOT = join(import.meta.dir, '..', '..')
const SAME = 'set REDIS_URL, DATABASE_URL or DATA_DIR as the gateway has them'

test('with the embedded stores of a running gateway, commands use them and leave them running', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'admin-test-'))
  const progress = () => undefined
  const cacheDir = join(import.meta.dir, '..', '..', '.cache')
  const servers = [
    await startEmbeddedRedis({ dataDir, cacheDir, progress }),
    await startEmbeddedPostgres({ dataDir, progress }),
  ]
  try {
    const [redisServer, postgresServer] = servers
    const args = ['account', 'create', '--email', 'r@example.test', '--name', 'R']
    const created = await runProcess(args, { DATA_DIR: dataDir })
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const other = await openFixture(redisServer?.url ?? '', postgresServer?.url ?? '')
    expect(await other.accounts.find(String(created.json.accountId))).toMatchObject({ name: 'R' })
    await other.close()
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('without a running gateway, commands start the embedded stores and stop them again', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'admin-test-'))
  try {
    const environment = { DATA_DIR: dataDir }
    const created = await runProcess(['account', 'create', '--email', 'e@example.test', '--name', 'E'], environment)
    expect(created).toMatchObject({ code: 0 })
    const { accountId } = created.json
    const add = ['credit', 'add', '--account', String(accountId), '--usd', '3', '--reference', 'r']
    expect((await runProcess(add, environment)).json).toEqual({ balanceUsd: 3 })
    expect((await runProcess(['ledger', 'check'], environment)).json).toMatchObject({ ok: true, accounts: 1 })
    expect(await Bun.file(join(dataDir, 'postgres', 'server.json')).exists()).toBe(false)
    expect(await Bun.file(join(dataDir, 'redis', 'server.json')).exists()).toBe(false)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})

/** As in a folder where somebody has only unpacked the program: nothing in the environment, nothing in the folder. */
async function runIn(folder: string, args: readonly string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/cli/main.ts'), ...args], {
    cwd: folder,
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, stdout, stderr }
}

test('commands neither read nor create embedded stores that they do not use', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'admin-nowhere-'))
  try {
    await mkdir(join(folder, 'config'))
    await cp(join(ROOT, 'config', 'catalog.json'), join(folder, 'config', 'catalog.json'))
    const nowhere = await runIn(folder, ['ledger', 'check'])
    expect(nowhere).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: `REDIS_URL and DATABASE_URL are unset, and no gateway has kept its data in ${join(folder, '.data')}: ${SAME}\n`,
    })
    expect(await readdir(folder)).toEqual(['config'])

    await (
      await startEmbeddedRedis({ dataDir: join(folder, '.data'), cacheDir: join(ROOT, '.cache'), progress: () => {} })
    ).stop()
    await (await startEmbeddedPostgres({ dataDir: join(folder, '.data'), progress: () => {} })).stop()
    const empty = await runIn(folder, ['ledger', 'check'])
    expect(empty).toMatchObject({ code: 2, stdout: '' })
    expect(empty.stderr).toBe(
      `Stores: embedded Redis and Postgres in ${join(folder, '.data')} (no gateway runs on them)\n` +
        `the embedded stores in ${join(folder, '.data')} are empty, and no gateway runs on them: ${SAME}\n`,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
