/** A server process ends when its supervisor dies. */
import { expect, test } from 'bun:test'
import { type GatewayProcess, spawnGateway } from '@test/boot/process'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'

/** As a supervisor of that process id starts it. */
async function startChildOf(pid: number): Promise<{ child: GatewayProcess; address: string }> {
  const [redis, database, port] = [await redisUrl(), await freshDatabase(), await freePort()]
  const child = spawnGateway({
    ...{ SUPERVISED_REDIS_URL: redis, SUPERVISED_DATABASE_URL: database, SUPERVISED_BY: String(pid) },
    ...{ REDIS_URL: redis, DATABASE_URL: database, PORT: String(port), PROVIDER1_API_KEY: 'k-provider-one' },
  })
  return { child, address: `http://127.0.0.1:${port}` }
}

test('a server process serves while its supervisor is its parent', async () => {
  const { child, address } = await startChildOf(process.pid)
  await until(
    async () => child.hasExited() || (await fetch(`${address}/healthz`).catch(() => undefined))?.ok,
    'the process to serve',
  )
  expect(child.hasExited()).toBe(false)
  child.kill('SIGTERM')
  expect(await child.exited()).toBe(0)
})

test('a server process ends by itself if the supervisor died before it served', async () => {
  // Its parent is another process, as it is once the supervisor has died.
  const { child } = await startChildOf(process.ppid)
  await until(() => child.hasExited(), 'the process to end')
  expect(child.output()).not.toContain('"level":"error"')
})
