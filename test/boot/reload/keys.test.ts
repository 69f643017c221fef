/** A provider key replaced under load: no call fails, running calls finish, and the old key is no longer used. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { until } from '@test/support/until'
import { chatChunk, type LiveStream, liveStream } from '@test/support/upstream'
import { answerAtOnce, ask, eventsOf, NEW_KEY, OLD_KEY, reload, startWorld, type World } from './world'

const WORKERS = 8
const CALLS_BEFORE = 100
const CALLS_AFTER = 200

let world: World
let open: LiveStream | undefined
/** The key of each call, and when it came. */
const seen: { key: string; atMs: number }[] = []
let revoked: string | undefined

beforeAll(async () => {
  world = await startWorld(async (call, index) => {
    const key = (call.headers.get('authorization') ?? '').replace('Bearer ', '')
    seen.push({ key, atMs: performance.now() })
    if (key === revoked) return Response.json({ error: { message: 'revoked' } }, { status: 401 })
    if (!call.text.includes('slowly')) {
      await spend(index % 10)
      return answerAtOnce(call, index)
    }
    open = liveStream()
    open.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'slow' }))}\n\n`)
    return open.response
  })
})
afterAll(() => world.stop())

test('a provider key in a mounted file is replaced while calls run', async () => {
  const { gateway, keyPath } = world
  const { key } = await gateway.customer('100')
  const streaming = await ask(gateway, key, { stream: true, messages: [{ role: 'user', content: 'slowly' }] })
  let isOver = false
  const statuses: number[] = []
  const workers = Array.from({ length: WORKERS }, async (_, index) => {
    while (!isOver) {
      const response = await ask(gateway, key, { stream: index % 2 === 0 })
      await response.text()
      statuses.push(response.status)
    }
  })
  await until(() => statuses.length >= CALLS_BEFORE, 'calls with the old key')
  await Bun.write(keyPath, `${NEW_KEY}\n`)
  await reload(gateway)
  const draining = () => gateway.gateway.deps.router.status().draining
  // What had its key already may be on its way still.
  await until(() => Bun.deepEquals([...draining().values()], [1]), 'all calls but the open stream to end')
  const reloadedMs = performance.now()
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(
    /svc_provider_key_draining\{key="provider1\/\w+"\} \d/,
  )
  await until(() => statuses.length >= CALLS_BEFORE + CALLS_AFTER, 'calls with the new key')
  expect(eventsOf(gateway, 'provider_key_drained')).toEqual([])
  open?.write(
    'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  )
  open?.close()
  expect(await streaming.text()).toEndWith('[DONE]\n\n')
  await until(() => draining().size === 0, 'the old key to be drained')
  expect(eventsOf(gateway, 'provider_key_drained')).toHaveLength(1)
  revoked = OLD_KEY
  const revokedAt = statuses.length
  await until(() => statuses.length >= revokedAt + CALLS_AFTER, 'calls after the revocation')
  isOver = true
  await Promise.all(workers)
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  expect(seen.filter(({ key: used, atMs }) => used !== NEW_KEY && atMs > reloadedMs)).toEqual([])
  expect(seen.some(({ key: used }) => used === NEW_KEY)).toBe(true)
})

test('an unreadable key file is an error, and the current key stays in use', async () => {
  const { gateway, keyPath } = world
  await Bun.file(keyPath).delete()
  await reload(gateway)
  expect(JSON.stringify(eventsOf(gateway, 'catalog_refused'))).toContain('PROVIDER1_API_KEY_FILE')
  const { key } = await gateway.customer('1')
  expect((await ask(gateway, key)).status).toBe(200)
  expect(seen.at(-1)?.key).toBe(NEW_KEY)
  expect(gateway.logLines.join('')).not.toContain(NEW_KEY)
})
