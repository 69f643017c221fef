/** Live events: what open pages get, with one shared watcher that ends with the last page. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Viewer } from '@/console/auth/viewer'
import { eventStream } from '@/console/http/event-stream'
import { eventsRoutes } from '@/console/http/events-routes'
import { createLiveAccounts, type LiveEvent, MAX_WATCHERS } from '@/console/usage-views/live-accounts'
import { SseParser } from '@/lib/streams/sse'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
})
afterAll(() => gateway.stop())

type Listener = {
  events: { event: string; data: Record<string, unknown> }[]
  ended: Promise<void>
  leave(): Promise<void>
}

async function listen(customer: SignedInCustomer): Promise<Listener> {
  const response = await customer.person.fetch('/dashboard/api/a/:accountId/events')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  return read(response)
}

function read(response: Response): Listener {
  const events: Listener['events'] = []
  const parser = new SseParser()
  const reader = response.body?.getReader()
  async function follow(): Promise<void> {
    for (;;) {
      const part = await reader?.read()
      if (!part || part.done) return
      for (const { event, data } of parser.push(part.value)) {
        if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) })
      }
    }
  }
  return { events, ended: follow().catch(() => undefined), leave: async () => reader?.cancel() }
}

const watched = () => gateway.gateway.deps.dashboard.liveAccounts.accountCount()

describe('live events', () => {
  test('live events contain each change of the balance, and each charge', async () => {
    const customer = await signUpCustomer(gateway, '1')
    const listener = await listen(customer)
    await until(() => listener.events.length > 0, 'the first event')
    expect(listener.events[0]).toEqual({
      event: 'balance',
      data: { balance: '1', available: '1', held: '0', spentThisMonth: '0' },
    })
    await ask(gateway, customer.key)
    await until(() => listener.events.some(({ event }) => event === 'usage'), 'a usage event')
    expect(listener.events.at(-1)).toMatchObject({ event: 'usage', data: { seq: 1, pending: 0 } })
    const list = await customer.person.json('GET', '/dashboard/api/a/:accountId/usage')
    expect((list.body as { items: unknown[] }).items).toHaveLength(1)
    await addCredit(gateway, customer.accountId, '2')
    await until(() => listener.events.some(({ data }) => data.balance === '2.99998'), 'the credit')
    await listener.leave()
    await until(() => watched() === 0, 'the watcher to end')
  })

  test('a subscriber also gets a charge made before it subscribed', async () => {
    const customer = await signUpCustomer(gateway, '1')
    await ask(gateway, customer.key)
    await flushed(gateway, customer.accountId)
    const first = await listen(customer)
    const isTold = ({ events }: Listener) => events.some(({ event, data }) => event === 'usage' && data.seq === 1)
    await until(() => isTold(first), 'the first to be told')
    const second = await listen(customer)
    await until(() => isTold(second), 'the second to be told')
    await Promise.all([first.leave(), second.leave()])
    await until(() => watched() === 0, 'the watcher to end')
  })

  test('subscribers of one account share one watcher, which ends with the last one', async () => {
    const customer = await signUpCustomer(gateway, '1')
    const [one, other] = [await listen(customer), await listen(customer)]
    await until(() => one.events.length > 0 && other.events.length > 0, 'both to be told')
    expect(watched()).toBe(1)
    await one.leave()
    await addCredit(gateway, customer.accountId, '1')
    await until(() => other.events.some(({ data }) => data.balance === '2'), 'the other to be told still')
    expect(one.events.some(({ data }) => data.balance === '2')).toBe(false)
    expect(watched()).toBe(1)
    await other.leave()
    await until(() => watched() === 0, 'the watcher to end')
  })

  test('an account has a limited number of event connections', async () => {
    const customer = await signUpCustomer(gateway, '1')
    const listeners = await Promise.all(Array.from({ length: MAX_WATCHERS }, () => listen(customer)))
    const refused = await customer.person.json('GET', '/dashboard/api/a/:accountId/events')
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { message: 'Too many pages of this account are open.' } },
    })
    await listeners.pop()?.leave()
    const again = await until(async () => {
      const response = await customer.person.fetch('/dashboard/api/a/:accountId/events')
      if (response.status === 200) return read(response)
      await response.text()
      return undefined
    }, 'a place to be free')
    await Promise.all([...listeners, again].map((listener) => listener.leave()))
    await until(() => watched() === 0, 'the watcher to end')
  })
})

describe('the route', () => {
  test('the event stream and its watcher end with the session, even if another session exists', async () => {
    const customer = await signUpCustomer(gateway, '1')
    const { dashboard } = gateway.gateway.deps
    const { accountId, ...person } = customer.person.viewer
    const now: Viewer = { ...person, ownAccountId: accountId, isTotpEnabled: false, provedAtMs: Date.now() }
    for (const later of [undefined, { ...now, sessionId: 'another' }]) {
      let viewer: Viewer | undefined = now
      const app = eventsRoutes({ ...dashboard, identifyViewer: async () => viewer, sessionCheckMs: 5 })
      const listener = read(await app.handle(new Request(`${gateway.url}/dashboard/api/a/${accountId}/events`)))
      await until(() => listener.events.length > 0, 'the first event')
      viewer = later
      await listener.ended
      expect(listener.events.at(-1)).toEqual({ event: 'signed-out', data: {} })
      expect(watched()).toBe(0)
    }
  })
})

describe('an event stream', () => {
  test('an event stream sends heartbeats, and ends with its session', async () => {
    let isAllowed = true
    let isStopped = false
    const response = eventStream({
      begin: (send) => {
        send({ event: 'balance', data: '{}' })
        return () => {
          isStopped = true
        }
      },
      isAllowed: async () => isAllowed,
      signal: new AbortController().signal,
      ...{ heartbeatMs: 5, checkMs: 10 },
    })
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes('still here')) text += decoder.decode((await reader?.read())?.value)
    expect(text).toStartWith('retry: 2000\n\nevent: balance\ndata: {}\n\n')
    isAllowed = false
    for (let isDone = false; !isDone; ) {
      const part = await reader?.read()
      isDone = part?.done ?? true
      text += decoder.decode(part?.value)
    }
    expect(text).toEndWith('event: signed-out\ndata: {}\n\n')
    expect(isStopped).toBe(true)
  })

  test('an event stream continues while the session cannot be looked up, and ends with its request or maximum age', async () => {
    const stopped: string[] = []
    const open = (name: string, changes: { maxAgeMs?: number; signal: AbortSignal }) =>
      eventStream({
        begin: () => () => stopped.push(name),
        isAllowed: () => Promise.reject(new Error('the store is away')),
        ...{ heartbeatMs: 5, checkMs: 1 },
        ...changes,
      })
    const controller = new AbortController()
    const [byRequest, byAge] = [
      read(open('request', { signal: controller.signal })),
      read(open('age', { maxAgeMs: 30, signal: new AbortController().signal })),
    ]
    await byAge.ended
    expect(stopped).toEqual(['age'])
    controller.abort()
    await byRequest.ended
    expect(stopped).toEqual(['age', 'request'])
  })
})

describe('live accounts', () => {
  test('live events continue after store failures', async () => {
    const { ledger } = gateway.gateway.deps
    const customer = await gateway.customer('4')
    let isDown = true
    const live = createLiveAccounts({
      ...{ database: gateway.gateway.database, logger: silentLogger, intervalMs: 5 },
      ledger: {
        ...ledger,
        readBalance: (accountId) => (isDown ? Promise.reject(new Error('down')) : ledger.readBalance(accountId)),
      },
    })
    const events: LiveEvent[] = []
    const watch = live.watch(customer.accountId, (event) => events.push(event))
    isDown = false
    await until(() => events.length > 0, 'an event')
    expect(events[0]).toMatchObject({ type: 'balance', balance: 4_000_000_000 })
    watch?.end()
    watch?.end()
    expect(live.accountCount()).toBe(0)
    live.stop()
    expect(live.watch(customer.accountId, () => {})).toBeUndefined()
  })
})
