/**
 * A stand-in for the gateway: starts both servers below the folder named by its arguments, prints their addresses as
 * one line, and on SIGINT or SIGTERM writes the signal's name to each before it stops them.
 */
import { join } from 'node:path'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'

const [dataDir = ''] = process.argv.slice(2)
const cacheDir = join(import.meta.dir, '..', '..', '..', '.cache')
const progress = (line: string) => process.stderr.write(`${line}\n`)

const [redis, database] = await Promise.all([
  startEmbeddedRedis({ dataDir, cacheDir, progress }),
  startEmbeddedPostgres({ dataDir, progress }),
])
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => void leave(name))
const keptAlive = setInterval(() => undefined, 60_000)
process.stdout.write(`${JSON.stringify({ pid: process.pid, redis, postgres: database })}\n`)

async function leave(name: string): Promise<void> {
  clearInterval(keptAlive)
  const client = new Redis(redis.url)
  await client.rpush('notes', name)
  client.disconnect()
  const sql = postgres(database.url, { max: 1 })
  await sql`INSERT INTO notes (note) VALUES (${name})`
  await sql.end()
  await Promise.all([redis.stop(), database.stop()])
}
