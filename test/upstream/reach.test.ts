/** The connect timeout: an address that drops packets ends the wait; one that answers, however late, does not. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { soundAnswer, startScriptedModels } from '@test/gateway/scripted-models'
import { spend } from '@test/support/delays'
import { openSilentAddress, type SilentAddress } from '@test/support/silent-address'
import { until } from '@test/support/until'
import type { Socket } from 'bun'
import { createReachTest } from '@/upstream/reach'

const CONNECT_MS = 300
let silent: SilentAddress

beforeAll(async () => {
  silent = await openSilentAddress()
})
afterAll(() => silent.stop())

const newTest = () => createReachTest(() => performance.now())

const NOBODY = { end: () => undefined }

/** Watches an address until it is called silent. */
async function untilSilent(baseUrl: string, reach = newTest()): Promise<void> {
  const told = Promise.withResolvers<void>()
  reach.watch(baseUrl, CONNECT_MS, { end: () => told.resolve() })
  await told.promise
}

/** Watches an address for longer than the connection beside the call may take. */
async function isCalledSilent(baseUrl: string, reach = newTest()): Promise<boolean> {
  let isSilent = false
  const watch = reach.watch(baseUrl, CONNECT_MS, {
    end() {
      isSilent = true
    },
  })
  await spend(3 * CONNECT_MS)
  watch.stop()
  return isSilent
}

test('an address that accepts no connection is unreachable', async () => {
  await untilSilent(`http://127.0.0.1:${silent.port}/v1`)
})

test('an address that accepts or refuses connections, or has no name, is not reported as unreachable', async () => {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(await isCalledSilent(`http://127.0.0.1:${server.port}`)).toBe(false)
  server.stop(true)
  expect(await isCalledSilent(`http://127.0.0.1:${server.port}`)).toBe(false)
  expect(await isCalledSilent(`http://${'x'.repeat(64)}.invalid`)).toBe(false)
})

test('an address that answered recently is tested again after some time', async () => {
  const reach = newTest()
  const baseUrl = `http://127.0.0.1:${silent.port}`
  reach.watch(baseUrl, CONNECT_MS, NOBODY).answered()
  await untilSilent(baseUrl, reach)
})

test('an address that accepted a connection counts as reachable for a while', async () => {
  const reach = createReachTest(() => performance.now())
  const watchOf = (port: number) => reach.watch(`http://127.0.0.1:${port}`, CONNECT_MS, NOBODY)
  expect(watchOf(silent.port).stop()).toEqual({ isUnheard: true })
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const watch = watchOf(server.port)
  await until(() => watch.stop() === undefined, 'the connection')
  expect(watchOf(server.port).stop()).toBeUndefined()
  server.stop(true)
})

test('after its call has ended, an address is not reported as unreachable', async () => {
  const reach = newTest()
  let told = 0
  const watch = reach.watch(`http://127.0.0.1:${silent.port}`, CONNECT_MS, { end: () => told++ })
  watch.stop()
  await untilSilent(`http://127.0.0.1:${silent.port}`, reach)
  expect(told).toBe(0)
})

test('a request to an unreachable address goes to the next model long before the first-byte limit', async () => {
  const patient = { timeouts: { connectMs: CONNECT_MS, firstByteMs: 60_000, idleMs: 60_000, totalMs: 120_000 } }
  const world = await startScriptedModels({
    ...patient,
    baseUrl: `http://127.0.0.1:${silent.port}`,
  })
  world.script(() => soundAnswer('chat-completions', false))
  const unreachable = world.modelWith('messages', () => soundAnswer('messages', false))
  const { response, text } = await world.ask({ format: 'messages', model: unreachable, fallback: ['svc/alpha'] })
  expect(response.status).toBe(200)
  expect(text).toContain('Sound')
  expect(response.headers.get('x-svc-model')).toBe('svc/alpha')
  expect(Number(response.headers.get('x-svc-attempts'))).toBeGreaterThan(1)
  await world.gateway.stop()
})

describe('the test connection beside a call', () => {
  /** A listener that counts who connects. */
  function startListener(hostname = '127.0.0.1') {
    const callers = new Set<number>()
    const socket = { open: (one: Socket) => void callers.add(one.remotePort), data() {} }
    const server = Bun.listen({ hostname, port: 0, socket })
    const host = hostname.includes(':') ? `[${hostname}]` : hostname
    return {
      baseUrl: `http://${host}:${server.port}/v1`,
      /** How many connected so far: a last one comes after all of them, and is not counted. */
      async connections(): Promise<number> {
        const last = await Bun.connect({ hostname, port: server.port, socket: { data() {} } })
        await until(() => callers.delete(last.localPort), 'the last one')
        return callers.size
      },
      stop: () => server.stop(true),
    }
  }

  test('calls that start together share one test connection', async () => {
    const listener = startListener()
    const reach = newTest()
    for (let count = 0; count < 5; count++) reach.watch(listener.baseUrl, CONNECT_MS, NOBODY)
    expect(await listener.connections()).toBe(1)
    listener.stop()
  })

  test('an address that answered recently is not tested until some time has passed', async () => {
    const listener = startListener()
    let nowMs = 0
    const reach = createReachTest(() => nowMs)
    const call = () => reach.watch(listener.baseUrl, CONNECT_MS, NOBODY)
    expect(await isCalledSilent(listener.baseUrl, reach)).toBe(false)
    expect(await listener.connections()).toBe(1)
    nowMs += 4_999
    call().stop()
    expect(await listener.connections()).toBe(1)
    nowMs += 1
    call().stop()
    expect(await listener.connections()).toBe(2)
    listener.stop()
  })

  test('each address has its own test connection', async () => {
    const [one, two] = [startListener(), startListener()]
    const reach = newTest()
    for (const { baseUrl } of [one, two]) reach.watch(baseUrl, CONNECT_MS, NOBODY)
    expect([await one.connections(), await two.connections()]).toEqual([1, 1])
    one.stop()
    two.stop()
  })

  test('an IPv6 address in brackets is tested', async () => {
    const listener = startListener('::1')
    expect(await isCalledSilent(listener.baseUrl)).toBe(false)
    expect(await listener.connections()).toBe(1)
    listener.stop()
  })
})
