/** The stored build of the pages: complete, missing, or unreadable at the moment, which does not start another build. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readBuild, writeBuild } from '@/boot/dashboard-assets/store'
import { createAsset } from '@/http/asset'

const ROOT = new URL('../../..', import.meta.url).pathname

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-build-'))
  const files = new Map([['icon.svg', await createAsset('image/svg+xml', new TextEncoder().encode('<svg/>'))]])
  await writeBuild(join(folder, 'build-1'), { page: '<p>', docsPage: '<q>', icon: 'icon.svg', files })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a stored build of the pages is found; without a build the result is empty', async () => {
  const found = await readBuild(join(folder, 'build-1'))
  expect([found?.page, found?.files.get('icon.svg')?.contentType]).toEqual(['<p>', 'image/svg+xml'])
  expect(await readBuild(join(folder, 'build-2'))).toBeUndefined()
})

test('a stored build of the pages that lacks a file is not used', async () => {
  await rm(join(folder, 'build-1', 'icon.svg.br'))
  expect(await readBuild(join(folder, 'build-1'))).toBeUndefined()
})

test('without free file descriptors, a stored build does not count as missing', async () => {
  const command = [
    'sh',
    '-c',
    'ulimit -n 64 && exec "$0" "$@"',
    process.execPath,
    '-e',
    SCRIPT,
    join(folder, 'build-1'),
  ]
  const child = Bun.spawn(command, { cwd: ROOT, stdout: 'pipe' })
  expect(await new Response(child.stdout).text()).toBe('EMFILE\n')
})

const SCRIPT = `
  import { openSync } from 'node:fs'
  import { readBuild } from '@/boot/dashboard-assets/store'
  try {
    for (;;) openSync('/dev/null', 'r')
  } catch {}
  await readBuild(process.argv.at(-1)).then(console.log, ({ code }) => console.log(code))
`
