/** The first start from a clone: the pages are built once, before the gateway is ready. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, spawnGateway } from '@test/boot/process'
import { asGateway, freshDatabase, redisUrl } from '@test/support/stores'
import { freePort } from '@/boot/embedded/free-port'

const ROOT = join(import.meta.dir, '..', '..', '..')
/** The parts of the repository that a gateway runs from. */
const PARTS = ['src', 'config', 'deploy', 'docs', 'package.json', 'bun.lock', 'bunfig.toml', 'tsconfig.json']

let clone: string
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'svc-clone-'))
  await Promise.all(PARTS.map((part) => cp(join(ROOT, part), join(clone, part), { recursive: true })))
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
})
afterAll(() => rm(clone, { recursive: true, force: true }))

test('two processes that start together build the pages once, and the first visit gets all files', async () => {
  const environment = {
    ...{ REDIS_URL: asGateway(await redisUrl()), DATABASE_URL: asGateway(await freshDatabase()) },
    ...{ PROCESSES: '2', PORT: String(await freePort()) },
  }
  const gateway = spawnGateway(environment, undefined, [process.execPath, join(clone, 'src', 'main.ts')])
  const address = await addressOf(gateway)
  const builds = () => gateway.output().match(/"dashboard_built"/g)?.length
  expect(gateway.output()).toMatch(/"dashboard_built"[\s\S]*ready at/)
  const page = await (await fetch(`${address}/dashboard`)).text()
  const files = [...page.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path)
  expect(files.length).toBeGreaterThan(1)
  for (const path of files) expect([path, (await fetch(address + path)).status]).toEqual([path, 200])
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
  expect(builds()).toBe(1)
})
