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

test('commands start and stop the embedded stores themselves, or use those of a running gateway', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'admin-test-'))
  try {
    const admin = async (line: string) => {
      const outcome = await runProcess(line.split(' '), { DATA_DIR: dataDir })
      expect(outcome).toMatchObject({ code: 0 })
      return outcome
    }
    const accountId = String((await admin('account create --email e@example.test --name E')).json.accountId)
    expect((await admin('ledger check')).json).toMatchObject({ ok: true, accounts: 1 })
    for (const store of ['postgres', 'redis'])
      expect(await Bun.file(join(dataDir, store, 'server.json')).exists()).toBe(false)

    const progress = () => undefined
    const redis = await startEmbeddedRedis({ dataDir, cacheDir: join(ROOT, '.cache'), progress })
    const postgres = await startEmbeddedPostgres({ dataDir, progress })
    const added = await admin(`credit add --account ${accountId} --usd 3 --reference r`)
    expect(added).toMatchObject({ stderr: '', json: { balanceUsd: 3 } })
    const fixture = await openFixture(redis.url, postgres.url)
    expect(await fixture.ledger.readBalance(accountId)).toMatchObject({ available: 3_000_000_000 })
    await fixture.close()
    await Promise.all([redis.stop(), postgres.stop()])
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
