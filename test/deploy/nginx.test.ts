/** A real nginx with the file of deploy/nginx: one address gets no more than its share of the gateways. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { ROOT } from './compose-file'

/** In the place of the file's own number, which is more than one process calls at once. */
const AT_ONCE = 64
const BEYOND = 8

let behind: Bun.Server<unknown>
let nginx: Bun.Subprocess
let folder: string
let port: number
let release: () => void
let waiting = 0
/** Whom each request was forwarded for. */
const seen: string[] = []

beforeAll(async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  behind = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      seen.push(request.headers.get('x-forwarded-for') ?? 'none')
      if (new URL(request.url).pathname !== '/slow') return new Response('here')
      waiting += 1
      await released
      return new Response('late')
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'svc-nginx-'))
  port = await freePort()
  const shipped = await Bun.file(join(ROOT, 'deploy', 'nginx', 'gateways.conf')).text()
  const site = shipped
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace(/gateway-1:3000/, `127.0.0.1:${behind.port}`)
    .replace(/^.*gateway-2:3000.*$/m, '')
    .replace(/limit_conn svc_open \d+/, `limit_conn svc_open ${AT_ONCE}`)
    // So that what opens connections at once is told of their number, and of nothing else.
    .replace(/rate=\d+r\/s/, 'rate=10000r/s')
    .replace(/burst=\d+/, 'burst=10000')
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const head = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit;\nevents { worker_connections 4096; }\n`
  const file = join(folder, 'nginx.conf')
  await writeFile(file, `${head}http {\naccess_log off;\n${places.join('\n')}\n${site}}\n`)
  nginx = Bun.spawn([programPath('nginx'), '-c', file, '-p', folder], { stdout: 'ignore', stderr: 'inherit' })
  await until(async () => (await statusFrom('127.0.0.1')) === '200', 'nginx')
})
afterAll(async () => {
  release()
  nginx.kill()
  await nginx.exited
  await behind.stop(true)
  await rm(folder, { recursive: true, force: true })
})

/** What a caller at this address of loopback is answered. */
async function statusFrom(address: string): Promise<string> {
  const words = ['--silent', '--output', '/dev/null', '--write-out', '%{http_code}', '--interface', address]
  const child = Bun.spawn(['curl', ...words, `http://127.0.0.1:${port}/`], { env: BARE_ENVIRONMENT, stdout: 'pipe' })
  return new Response(child.stdout).text()
}

test.each(['/metrics', '/metrics/', '/readyz', '/%6detrics', '//readyz', '/x/../metrics'])(
  'nginx answers a path for the internal network with 404: %s',
  async (path) => {
    const before = seen.length
    const words = ['--silent', '--path-as-is', '--output', '/dev/null', '--write-out', '%{http_code}']
    const child = Bun.spawn(['curl', ...words, `http://127.0.0.1:${port}${path}`], {
      env: BARE_ENVIRONMENT,
      stdout: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe('404')
    expect(seen.length).toBe(before)
  },
)

test('nginx forwards the client’s real address, whatever header the client sends', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7' }
  expect((await fetch(`http://127.0.0.1:${port}/`, { headers })).status).toBe(200)
  expect(seen.at(-1)).toBe('127.0.0.1')
})

test('nginx answers requests above an address’s limit with 429 at once, and serves other addresses', async () => {
  const statuses: number[] = []
  const calls = Array.from({ length: AT_ONCE + BEYOND }, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/slow`)
    statuses.push(response.status)
    await response.text()
  })
  await until(() => waiting === AT_ONCE && statuses.length === BEYOND, 'all to be waiting or refused')
  expect(new Set(statuses)).toEqual(new Set([429]))
  expect(await statusFrom('127.0.0.1')).toBe('429')
  expect(await statusFrom('127.0.0.2')).toBe('200')
  release()
  await Promise.all(calls)
  expect(statuses.filter((status) => status === 200)).toHaveLength(AT_ONCE)
})
