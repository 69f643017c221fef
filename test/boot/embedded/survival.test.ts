/** The embedded stores after an interrupt and after a kill of the gateway, seen from another process. */
import { afterAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { ACCOUNTS, isRunning, newDataDir, type StandIn, startBothInChild, untilGone } from './start-both-in-child'

const dataDirs: string[] = []

afterAll(() => Promise.all(dataDirs.map((path) => rm(dirname(path), { recursive: true, force: true }))))

describe.each(ACCOUNTS.map((account) => ({ account })))('stores run as $account', ({ account }) => {
  test('data in the embedded stores survives an interrupt, and a kill of the gateway', async () => {
    const dataDir = await newDataDir(account)
    dataDirs.push(dataDir)

    const first = await startBothInChild(dataDir, account)
    await note(first, 'before the interrupt')
    // What a terminal does on Ctrl-C: everyone in the foreground group gets the signal.
    process.kill(-first.pid, 'SIGINT')
    expect(await first.exited).toBe(0)
    expect(await isRunning(first.redis.pid)).toBe(false)
    expect(await isRunning(first.postgres.pid)).toBe(false)

    const second = await startBothInChild(dataDir, account)
    await note(second, 'before the kill')
    process.kill(second.pid, 'SIGKILL')

    // At once, so that the servers of the killed one may still be on their way out.
    const third = await startBothInChild(dataDir, account)
    expect(await isRunning(second.redis.pid)).toBe(false)
    expect(await isRunning(second.postgres.pid)).toBe(false)
    const expected = ['before the interrupt', 'SIGINT', 'before the kill']
    expect(await readNotes(third)).toEqual({ redis: expected, postgres: expected })

    process.kill(third.pid, 'SIGKILL')
    await untilGone([third.redis.pid, third.postgres.pid])
  })
})

async function note(servers: StandIn, text: string): Promise<void> {
  await withClients(servers, async (redis, sql) => {
    await redis.rpush('notes', text)
    await sql`CREATE TABLE IF NOT EXISTS notes (id serial, note text)`.simple()
    await sql`INSERT INTO notes (note) VALUES (${text})`
  })
}

async function readNotes(servers: StandIn): Promise<{ redis: string[]; postgres: string[] }> {
  return withClients(servers, async (redis, sql) => {
    const rows = await sql<{ note: string }[]>`SELECT note FROM notes ORDER BY id`
    return { redis: await redis.lrange('notes', 0, -1), postgres: rows.map((row) => row.note) }
  })
}

async function withClients<T>(servers: StandIn, use: (redis: Redis, sql: postgres.Sql) => Promise<T>): Promise<T> {
  const redis = new Redis(servers.redis.url)
  const sql = postgres(servers.postgres.url, { max: 1, onnotice: () => undefined })
  try {
    return await use(redis, sql)
  } finally {
    redis.disconnect()
    await sql.end()
  }
}
