/** The proxy of compose.yaml, with a real Caddy: streams pass chunk by chunk, and a stopped or dead gateway gets no requests. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { ROOT } from './compose-file'

type Behind = {
  port: number
  asked: { path: string; forwardedFor: string | null }[]
  isReady: boolean
  stop(): Promise<void>
}

let first: Behind
let second: Behind
let proxy: Bun.Subprocess
let address: string
let folder: string
let release: (() => void) | undefined

/** What stands where a gateway would: it says whether it is ready, and answers in two pieces, the second when it is told. */
function startBehind(name: string): Behind {
  const asked: Behind['asked'] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/readyz') return new Response(null, { status: behind.isReady ? 200 : 503 })
      asked.push({ path: pathname, forwardedFor: request.headers.get('x-forwarded-for') })
      await request.text()
      if (pathname !== '/stream') return new Response(name)
      return new Response(pieces(), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const behind: Behind = { port: server.port ?? 0, asked, isReady: true, stop: () => server.stop(true) }
  return behind
}

function pieces(): ReadableStream<string> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue('data: one\n\n')
      release = () => {
        controller.enqueue('data: two\n\n')
        controller.close()
      }
    },
  })
}

function post(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${address}${path}`, { method: 'POST', body: '{}', headers })
}

beforeAll(async () => {
  first = startBehind('first')
  second = startBehind('second')
  folder = await mkdtemp(join(tmpdir(), 'svc-proxy-'))
  address = `http://127.0.0.1:${await freePort()}`
  proxy = Bun.spawn([programPath('caddy'), 'run', '--config', join(ROOT, 'deploy', 'proxy', 'Caddyfile')], {
    env: {
      ...BARE_ENVIRONMENT,
      HOME: folder,
      ADMIN_ADDRESS: 'off',
      SITE_ADDRESS: address,
      GATEWAYS: `127.0.0.1:${first.port} 127.0.0.1:${second.port}`,
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await until(
    () =>
      fetch(`${address}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    'the proxy',
  )
})
afterAll(async () => {
  proxy.kill()
  await proxy.exited
  await Promise.all([first.stop(), second.stop()])
  await rm(folder, { recursive: true, force: true })
})

test('the proxy passes on a chunk of a stream as soon as it arrives', async () => {
  const reader = (await post('/stream')).body?.getReader()
  const read = async () => new TextDecoder().decode((await reader?.read())?.value)
  expect(await read()).toBe('data: one\n\n')
  release?.()
  expect(await read()).toBe('data: two\n\n')
})

test('the proxy answers requests for metrics and readiness with 404', async () => {
  const before = [...first.asked, ...second.asked].length
  for (const path of ['/metrics', '/readyz']) expect((await fetch(`${address}${path}`)).status).toBe(404)
  expect([...first.asked, ...second.asked].length).toBe(before)
})

test('the proxy removes forwarding headers that the caller sent', async () => {
  await post('/who', { 'x-forwarded-for': '203.0.113.9' })
  const call = [...first.asked, ...second.asked].find(({ path }) => path === '/who')
  expect(call?.forwardedFor).toBe('127.0.0.1')
})

test('the proxy sends no requests to a gateway that is not ready, and its share once it is ready again', async () => {
  const names = async () => new Set(await Promise.all(Array.from({ length: 20 }, async () => (await post('/')).text())))
  first.isReady = false
  await until(async () => (await names()).size === 1, 'only one to be asked')
  expect(await names()).toEqual(new Set(['second']))
  first.isReady = true
  await until(async () => (await names()).size === 2, 'both to be asked')
})

test('the proxy detects a dead gateway within seconds', async () => {
  await first.stop()
  const answers = async () => Promise.all(Array.from({ length: 20 }, async () => (await post('/')).text()))
  await until(async () => (await answers()).every((text) => text === 'second'), 'all to be answered')
})
