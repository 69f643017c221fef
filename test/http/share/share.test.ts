/** One request's share of common resources: who waits, who goes first, and that every share is returned. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { GatewayError } from '@/chat/error'
import { createShares } from '@/http/share/share'
import type { Payer } from '@/ledger/outcomes'
import { type Nano, nano, ZERO_NANO } from '@/lib/money'
import { SHARED } from '@/limits/shared-resources'

const MIB = 1024 * 1024
const BODY = 20 * MIB
const payer = (accountId: string) => ({ accountId, keyId: 'key_1' })
const MANY = Math.floor(SHARED.bodies.perAccount / BODY)

/** The kind of the refusal, or `in` once it is let in. */
const outcome = (entering: Promise<void> | undefined) =>
  Promise.resolve(entering).then(
    () => 'in',
    (error: unknown) => (error instanceof GatewayError ? error.kind : 'bug'),
  )

/** Asks nobody but `admit`. */
const admitting = (admit: (payer: Payer, least?: Nano) => Promise<void> = () => Promise.resolve()) => ({
  admitLarge: admit,
  admitFree: () => Promise.reject(new Error('asked of what is free')),
})

describe('memory for bodies', () => {
  test('an account’s bodies get limited memory; its next body waits unread, other accounts do not', async () => {
    const open = createShares(admitting())
    const mine = Array.from({ length: MANY + 1 }, () => open(payer('acct_a')))
    const entered = mine.map((share) => outcome(share.enter(BODY)))
    await Promise.all(entered.slice(0, MANY))
    expect(await outcome(open(payer('acct_b')).enter(BODY))).toBe('in')
    expect(Bun.peek.status(entered[MANY] as Promise<string>)).toBe('pending')
    mine[0]?.end()
    mine[0]?.end()
    expect(await entered[MANY]).toBe('in')
  })

  test('if no memory for bodies becomes free in time, the answer is a 503 with retry-after', async () => {
    const open = createShares(admitting(), 1)
    for (let index = 0; index < MANY; index++) await open(payer('acct_a')).enter(BODY)
    const refused = await Promise.resolve(open(payer('acct_a')).enter(BODY)).catch((error) => error)
    expect([refused.status, refused.options.retryAfterSeconds]).toEqual([503, 2])
  })

  test('small bodies need no share of the memory', () => {
    const open = createShares(admitting())
    for (let index = 0; index < MANY; index++) void open(payer('acct_a')).enter(BODY)
    expect(open(payer('acct_a')).enter(16 * 1024)).toBeUndefined()
  })

  test('a body of unknown length gets its memory in parts, and never waits after it is partly read', async () => {
    const open = createShares(admitting())
    const share = open(payer('acct_a'))
    for (let bytes = 0; bytes < SHARED.bodies.perAccount; bytes += MIB) share.grow(MIB)
    expect(await outcome(open(payer('acct_a')).enter(16 * 1024))).toBe('in')
    const other = open(payer('acct_a'))
    expect(() => other.grow(MIB)).toThrow('Too many large requests')
    share.end()
    other.grow(MIB)
  })
})

describe('a long conversation', () => {
  test('an account reads one long conversation at a time, and none that it cannot pay', async () => {
    const asked: number[] = []
    const open = createShares(
      admitting((_, least = ZERO_NANO) => {
        asked.push(least)
        return least > 100 ? Promise.reject(new GatewayError('insufficient_credit', 'No.')) : Promise.resolve()
      }),
    )
    const [first, second, other] = [open(payer('acct_a')), open(payer('acct_a')), open(payer('acct_b'))]
    expect(await outcome(first.readStored(MIB, () => nano(100)))).toBe('in')
    const waiting = outcome(second.readStored(MIB, () => nano(100)))
    expect(await outcome(other.readStored(MIB, () => nano(100)))).toBe('in')
    expect(Bun.peek.status(waiting)).toBe('pending')
    first.endTurn()
    expect(await waiting).toBe('in')
    expect(await outcome(open(payer('acct_a')).readStored(MIB, () => nano(101)))).toBe('insufficient_credit')
    expect(asked).toEqual([100, 100, 100, 101])
  })

  test('waiting long conversations take turns between accounts', async () => {
    const open = createShares(admitting())
    const order: string[] = []
    const large = Array.from({ length: 3 }, async (_, index) => {
      const share = open(payer('acct_a'))
      await share.takeTurn({ bytes: MIB, dearValues: 0 })
      order.push(`large ${index}`)
      setImmediate(() => order.push('somebody else'))
      share.end()
    })
    await Promise.all(large)
    expect(order).toEqual(['large 0', 'somebody else', 'large 1', 'somebody else', 'large 2'])
  })

  test('a short conversation waits for no turn', () => {
    const open = createShares(admitting(() => Promise.reject(new Error('asked'))))
    expect(open(payer('acct_a')).readStored(200 * 1024, () => nano(101))).toBeUndefined()
  })
})

describe('a gateway', () => {
  let gateway: TestGateway
  let customer: Customer
  let status = 200

  beforeAll(async () => {
    gateway = await startGateway({
      respond: () => (status === 200 ? Response.json(chatCompletion('Hello')) : new Response('', { status })),
    })
    customer = await gateway.customer('1000')
  })
  afterAll(() => gateway.stop())

  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'x'.repeat(6 * MIB)}` } }
  const chat = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: [picture] }] })
  const headers = (): Record<string, string> => ({
    authorization: `Bearer ${customer.key}`,
    'content-type': 'application/json',
  })

  /** More, one after another, than the account may have at once. */
  async function sendAll(path: string, body: string, more: Record<string, string> = {}): Promise<number[]> {
    const statuses = new Set<number>()
    for (let sent = 0; sent <= SHARED.bodies.perAccount; sent += body.length) {
      const response = await fetch(gateway.url + path, { method: 'POST', headers: { ...headers(), ...more }, body })
      await response.text()
      statuses.add(response.status)
    }
    return [...statuses]
  }

  test('the memory for a body is freed however the request ends', async () => {
    expect(await sendAll('/v1/chat/completions', chat('svc/alpha'))).toEqual([200])
    // What is read for nothing has a limit of its own.
    customer = await gateway.customer('1000')
    expect(await sendAll('/v1/chat/completions', chat('svc/alpha'), { 'idempotency-key': 'again' })).not.toContain(503)
    customer = await gateway.customer('1000')
    status = 500
    expect(await sendAll('/v1/chat/completions', chat('svc/alpha'))).not.toContain(503)
    status = 200
  })

  test('full memory is reported in the caller’s format before the body is read', async () => {
    const announced = { ...headers(), 'content-length': String(BODY) }
    const holders = Array.from({ length: MANY + 1 }, () =>
      openRaw(gateway.url, rawRequest('POST /v1/messages', announced, '{')),
    )
    const refused = () => holders.map((holder) => holder.received()).find((text) => text !== '')
    const answer = await until(refused, 'a refusal')
    for (const holder of holders) holder.end()
    // The status of this family for it.
    expect(answer).toStartWith('HTTP/1.1 529')
    expect(answer.toLowerCase()).toContain('retry-after: 2')
    expect(answer).toContain('"type":"overloaded_error"')
  })
})
