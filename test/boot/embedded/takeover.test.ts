/** A start on a data directory in use: by an orphaned store, a running gateway, another owner, or after a failed start. */
import { afterAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { claimDirectory } from '@/boot/embedded/claim'
import { EmbeddedServerError } from '@/boot/embedded/error'
import { findServerProcesses, stopProcesses } from '@/boot/embedded/orphans'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { findRedis } from '@/boot/embedded/redis-binary'
import { ACCOUNTS, isRunning } from './start-both-in-child'

const cacheDir = join(import.meta.dir, '..', '..', '..', '.cache')
const progress = () => undefined
const dataDirs: string[] = []
const NOBODY = 65_534

afterAll(() => Promise.all(dataDirs.map((path) => rm(path, { recursive: true, force: true }))))

async function newDataDir(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'svc-takeover-')))
  dataDirs.push(path)
  return path
}

test('a store left by a dead gateway is replaced without losing acknowledged data', async () => {
  const dataDir = await newDataDir()
  const directory = join(dataDir, 'redis')
  await (await startEmbeddedRedis({ dataDir, cacheDir, progress })).stop()
  const { path, libraryPath } = await findRedis(cacheDir, progress, undefined)
  const environment = libraryPath === undefined ? {} : { LD_LIBRARY_PATH: libraryPath }
  const orphan = spawn(path, [join(directory, 'redis.conf')], { cwd: directory, env: environment, stdio: 'ignore' })
  const config = await Bun.file(join(directory, 'redis.conf')).text()
  const port = /^port "(\d+)"$/m.exec(config)?.[1]
  const password = await Bun.file(join(directory, 'password')).text()
  const client = new Redis(`redis://:${password}@127.0.0.1:${port}`, { retryStrategy: () => 20 })
  client.on('error', () => undefined)
  await client.set('key', 'of the orphan')
  client.disconnect()

  const lines: string[] = []
  const ended = once(orphan, 'exit')
  const server = await startEmbeddedRedis({ dataDir, cacheDir, progress: (line) => lines.push(line) })
  await ended
  expect(lines).toEqual(['Replacing the Redis that an earlier gateway left behind'])
  const next = new Redis(server.url)
  expect(await next.get('key')).toBe('of the orphan')
  next.disconnect()
  await server.stop()
})

test('a process that is no store, but has the recorded process id, is not mistaken for one', async () => {
  const directory = await newDataDir()
  const stranger = spawn('sleep', ['60'], { cwd: directory, stdio: 'ignore' })
  await until(async () => (await findServerProcesses(directory, ['sleep'])).includes(stranger.pid ?? 0))
  expect(await findServerProcesses(directory, ['redis-server', 'postgres'])).toEqual([])
  expect(await findServerProcesses(join(directory, 'below'), ['sleep'])).toEqual([])
  await stopProcesses([stranger.pid ?? 0], 'SIGTERM', 5_000)
  expect(await isRunning(stranger.pid ?? 0)).toBe(false)
})

test('a store that ignores SIGTERM is killed', async () => {
  const directory = await newDataDir()
  const stubborn = spawn('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], { cwd: directory })
  await once(stubborn.stdout, 'data')
  const pid = stubborn.pid ?? 0
  await stopProcesses([pid], 'SIGTERM', 100)
  expect(await isRunning(pid)).toBe(false)
})

test('a data directory belongs to one process at a time', async () => {
  const directory = await newDataDir()
  const first = await claimDirectory(directory, 0)
  expect(first).toBeDefined()
  expect(await claimDirectory(directory, 0)).toBeUndefined()
  const waiting = claimDirectory(directory, 10_000)
  first?.release()
  const second = await waiting
  expect(second).toBeDefined()
  second?.release()
})

test('a command uses the stores of a running gateway and leaves them running', async () => {
  const dataDir = await newDataDir()
  const options = { dataDir, cacheDir, progress }
  const owners = await Promise.all([startEmbeddedRedis(options), startEmbeddedPostgres(options)])
  const guests = await Promise.all([
    startEmbeddedRedis({ ...options, attach: true }),
    startEmbeddedPostgres({ ...options, attach: true }),
  ])
  expect(guests.map(({ url, pid }) => ({ url, pid }))).toEqual(owners.map(({ url, pid }) => ({ url, pid })))
  for (const guest of guests) await guest.stop()
  for (const owner of owners) expect(await isRunning(owner.pid)).toBe(true)
  for (const owner of owners) await owner.stop()
  for (const owner of owners) expect(await isRunning(owner.pid)).toBe(false)
})

test('a failed start prints the reason in one line and does not block the next start', async () => {
  const dataDir = await newDataDir()
  const redis = { dataDir, cacheDir, progress }
  const failing = startEmbeddedRedis({ ...redis, config: { 'no-such-directive': '1' } })
  await expect(failing).rejects.toThrow(EmbeddedServerError)
  await expect(failing).rejects.toThrow(/^Redis did not start: .*\(full log: .*server\.log\)$/)
  await (await startEmbeddedRedis(redis)).stop()

  const settings = { no_such_setting: '1' }
  const message = /^Postgres did not start: .*unrecognized configuration parameter "no_such_setting"/
  await expect(startEmbeddedPostgres({ dataDir, progress, settings })).rejects.toThrow(message)
  await (await startEmbeddedPostgres({ dataDir, progress })).stop()
})

test('a first start prints its steps, hides secrets and removes temporary files', async () => {
  const dataDir = await newDataDir()
  const lines: string[] = []
  const redis = await startEmbeddedRedis({ dataDir, cacheDir, progress: (line) => lines.push(line) })
  const database = await startEmbeddedPostgres({ dataDir, progress: (line) => lines.push(line) })
  expect(lines).toEqual(['Creating the Postgres data directory (first start only)'])
  for (const secret of ['postgres/password', 'postgres/server.json', 'redis/password', 'redis/redis.conf']) {
    expect((await stat(join(dataDir, secret))).mode & 0o077).toBe(0)
  }
  const stranger = new Redis(redis.url.replace(/:\w+@/, ''), { retryStrategy: () => null })
  stranger.on('error', () => undefined)
  await expect(stranger.get('key')).rejects.toThrow('NOAUTH')
  stranger.disconnect()
  const guesser = postgres(database.url, { max: 1, password: 'guess' })
  await expect(guesser`SELECT 1`.execute()).rejects.toThrow('password authentication failed')
  await guesser.end()

  await Promise.all([redis.stop(), database.stop(), redis.stop()])
  expect((await readdir(join(dataDir, 'postgres'))).sort()).toEqual(['data', 'owner.lock', 'password', 'server.log'])
})

test.each(ACCOUNTS.filter((account) => account === 'root'))(
  'stores started as %s keep the owner of the data files',
  async () => {
    const dataDir = await newDataDir()
    const data = join(dataDir, 'postgres', 'data')
    const first = await startEmbeddedPostgres({ dataDir, progress })
    await run(first.url, 'CREATE TABLE kept (id int)')
    await first.stop()
    for (const entry of await readdir(data, { recursive: true })) await chown(join(data, entry), NOBODY, NOBODY)
    await chown(data, NOBODY, NOBODY)

    const second = await startEmbeddedPostgres({ dataDir, progress })
    await run(second.url, 'INSERT INTO kept VALUES (1)')
    expect((await stat(`/proc/${second.pid}`)).uid).toBe(NOBODY)
    await second.stop()
    expect((await stat(data)).uid).toBe(NOBODY)
  },
)

async function run(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1 })
  await sql.unsafe(statement)
  await sql.end()
}
