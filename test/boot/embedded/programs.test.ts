/** Which Redis program is used, and which links an install without scripts must create for Postgres. */
import { afterAll, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { locatePostgres, restoreLinks } from '@/boot/embedded/postgres-programs'
import { findRedis } from '@/boot/embedded/redis-binary'

const folder = await mkdtemp(join(tmpdir(), 'svc programs '))
const noProgress = (line: string) => {
  throw new Error(`unexpected progress: ${line}`)
}

afterAll(() => rm(folder, { recursive: true, force: true }))

async function makeProgram(path: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, '#!/bin/sh\nexit 0\n')
  await chmod(path, 0o755)
}

test('redis-server on PATH is preferred to valkey-server, and valkey-server to a cached program', async () => {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const cacheDir = join(folder, 'cache')
  const cached = join(cacheDir, 'redis', 'usr', 'bin', 'redis-server')
  const libraries = join(cacheDir, 'redis', 'usr', 'lib', 'some-triplet')
  await Promise.all([makeProgram(join(first, 'valkey-server')), makeProgram(join(second, 'redis-server'))])
  await Promise.all([makeProgram(cached), mkdir(libraries, { recursive: true })])
  const find = (PATH: string) => findRedis(cacheDir, noProgress, { PATH })
  expect(await find(`${first}:${second}`)).toEqual({ path: join(second, 'redis-server'), libraryPath: undefined })
  expect(await find(first)).toEqual({ path: join(first, 'valkey-server'), libraryPath: undefined })
  expect(await find(folder)).toEqual({ path: cached, libraryPath: libraries })
})

test('links that an install without scripts omitted are created; existing links stay', async () => {
  const library = join(folder, 'native', 'lib')
  await mkdir(library, { recursive: true })
  const links = [
    { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so' },
    { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' },
  ]
  await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
  await writeFile(join(library, 'libx.so.1.2'), '')
  await symlink('elsewhere', join(library, 'libx.so'))
  await restoreLinks(folder)
  expect(await readlink(join(library, 'libx.so'))).toBe('elsewhere')
  expect(await readlink(join(library, 'libx.so.1'))).toBe('libx.so.1.2')
  await restoreLinks(folder)
  expect((await readdir(library)).sort()).toEqual(['libx.so', 'libx.so.1', 'libx.so.1.2'])
})

test('the Postgres programs of this machine are found', async () => {
  const programs = await locatePostgres()
  for (const path of Object.values(programs)) expect(await Bun.file(path).exists()).toBe(true)
})
