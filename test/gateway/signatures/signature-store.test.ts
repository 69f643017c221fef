/** Signatures that a client's format has no field for: stored with the answer, and restored in a history that continues it. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { requestOf } from '@test/routing/world'
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest, ModelBlock, Turn } from '@/chat/request'
import { createSignatureCollector, type SignatureCollector } from '@/gateway/signatures/signature-collector'
import { createSignatureStore, type SignatureStore } from '@/gateway/signatures/signature-store'
import { SHARED } from '@/limits/shared-resources'

const SIGNED = { format: 'messages', value: 'proof' } as const

let kept: Map<string, string>
let store: SignatureStore
let isCrowded: boolean
let counts: Map<string, number>
/** Of another process over the same keeper. */
let other: SignatureStore
beforeEach(() => {
  kept = new Map()
  counts = new Map()
  isCrowded = false
  const keeper = {
    async count(key: string, amount: number) {
      const sum = (counts.get(key) ?? 0) + amount
      counts.set(key, sum)
      return sum
    },
    set: async (key: string, value: string) => kept.set(key, value),
    get: async (key: string) => kept.get(key) ?? null,
    delete: async (key: string) => kept.delete(key),
    isCrowded: () => isCrowded,
  }
  store = createSignatureStore(keeper)
  other = createSignatureStore(keeper)
})

/** The events of an answer that thinks, and then calls a tool twice. */
const ANSWER: ChatEvent[] = [
  { type: 'reasoning-start', choice: 0, block: 0 },
  { type: 'reasoning-delta', choice: 0, block: 0, text: 'Let me ' },
  { type: 'reasoning-delta', choice: 0, block: 0, text: 'add' },
  { type: 'reasoning-end', choice: 0, block: 0, signature: SIGNED },
  { type: 'tool-call-start', choice: 0, block: 1, id: 'call_1', name: 'add' },
  { type: 'tool-call-end', choice: 0, block: 1 },
  { type: 'tool-call-start', choice: 0, block: 2, id: 'call_2', name: 'add' },
  { type: 'tool-call-end', choice: 0, block: 2, signature: SIGNED },
]

function collected(events: ChatEvent[] = ANSWER): SignatureCollector {
  const collector = createSignatureCollector()
  for (const event of events) collector.observe(event)
  return collector
}

const call = (id: string): ModelBlock => ({ type: 'tool-call', id, name: 'add', argumentsText: '{}' })
const historyOf = (...content: ModelBlock[]): ChatRequest => requestOf({ turns: [{ role: 'assistant', content }] })
const restored = async (request: ChatRequest, accountId = 'acct_1') =>
  (await store.restore(accountId, request)).turns.flatMap(({ content }: Turn) => content as ModelBlock[])

describe('collected signatures', () => {
  test('the signature of each call, and of the reasoning before the first call, is collected', () => {
    const reasoning = [{ type: 'reasoning', text: 'Let me add', signature: SIGNED }]
    expect([...collected().signedCalls()] as unknown).toEqual([
      ['call_1', { reasoning }],
      ['call_2', { call: SIGNED, reasoning: [] }],
    ])
  })

  test('signatures collected from a whole answer equal those collected from a stream', () => {
    const collector = createSignatureCollector()
    const content = [
      { type: 'reasoning' as const, text: 'Let me add', signature: SIGNED },
      { type: 'tool-call' as const, id: 'call_1', name: 'add', argumentsText: '{}' },
      { type: 'tool-call' as const, id: 'call_2', name: 'add', argumentsText: '{}', signature: SIGNED },
    ]
    const choices = [{ index: 0, finish: { kind: 'tool-calls' as const }, content }]
    collector.observeResponse({ id: '', created: 0, model: '', usage: null, choices })
    expect([...collector.signedCalls()]).toEqual([...collected().signedCalls()])
  })

  test('unsigned parts are not collected', () => {
    const plain = ANSWER.map((event) => ('signature' in event ? { ...event, signature: undefined } : event))
    expect(collected(plain as ChatEvent[]).signedCalls().size).toBe(0)
  })
})

describe('stored signatures', () => {
  beforeEach(() => store.keep('acct_1', collected()))

  test('signatures are stored with the calls that the client’s format drops, per account', async () => {
    await store.forget('acct_2', ['call_1', 'call_2'])
    await store.forget('acct_1', ['call_1', 'unknown'])
    expect((await restored(historyOf(call('call_1'), call('call_2')))) as unknown).toEqual([
      call('call_1'),
      { ...call('call_2'), signature: SIGNED },
    ])
  })

  test('stored signatures return with their calls', async () => {
    expect((await restored(historyOf(call('call_1'), call('call_2')))) as unknown).toEqual([
      { type: 'reasoning', text: 'Let me add', signature: SIGNED },
      call('call_1'),
      { ...call('call_2'), signature: SIGNED },
    ])
  })

  test('reasoning that the client sent back is not repeated', async () => {
    const own: ModelBlock = { type: 'reasoning', text: 'Mine', signature: SIGNED }
    expect(await restored(historyOf(own, call('call_1')))).toEqual([own, call('call_1')])
  })

  test('signatures are only returned to their own account', async () => {
    for (const id of ['call_1', 'acct_1:call_1', '../acct_1/call_1']) {
      const history = historyOf(call(id))
      expect(await store.restore('acct_2', history)).toBe(history)
    }
  })

  test('signatures are not looked up if none is missing', async () => {
    const history = historyOf({ ...call('call_1'), signature: SIGNED } as ModelBlock, { type: 'text', text: 'Hi' })
    expect(await store.restore('acct_1', history)).toBe(history)
  })
})

describe('the limit of stored signatures', () => {
  const MIB = 1024 * 1024
  /** An answer around one call, of half a MiB. */
  function long(id: string): SignatureCollector {
    return collected([
      { type: 'reasoning-start', choice: 0, block: 0 },
      { type: 'reasoning-delta', choice: 0, block: 0, text: 'x'.repeat(MIB / 2) },
      { type: 'reasoning-end', choice: 0, block: 0, signature: SIGNED },
      { type: 'tool-call-start', choice: 0, block: 1, id, name: 'add' },
      { type: 'tool-call-end', choice: 0, block: 1 },
    ])
  }
  const bytesOf = (accountId: string) =>
    [...kept].reduce((sum, [name, value]) => (name.includes(accountId) ? sum + name.length + value.length : sum), 0)

  test('an account’s signatures are limited over all processes, and the limit starts anew after the period', async () => {
    const most = SHARED.signatures.perAccount
    async function keepMany(from: number): Promise<void> {
      for (let index = from; index < from + 100; index++) {
        await (index % 2 === 0 ? store : other).keep('acct_1', long(`call_${index}`))
      }
    }
    await keepMany(0)
    expect(bytesOf('acct_1')).toBeWithin(most - MIB, most + 1)
    await store.keep('acct_2', collected())
    expect(bytesOf('acct_2')).toBeGreaterThan(0)
    expect([...counts.keys()]).toEqual(['sig:acct_1', 'sig:acct_2'])
    counts.clear()
    await keepMany(100)
    expect(bytesOf('acct_1')).toBeWithin(2 * most - 2 * MIB, 2 * most + 1)
  })

  test('a signature that is longer than any reasoning is not stored', async () => {
    const events = Array.from({ length: 3 }, () => ({
      type: 'reasoning-delta',
      choice: 0,
      block: 0,
      text: 'x'.repeat(MIB / 2),
    }))
    const [start, ...rest] = ANSWER
    if (!start) throw new Error('an answer begins')
    await store.keep('acct_1', collected([start, ...(events as ChatEvent[]), ...rest]))
    expect([...kept.keys()]).toEqual(['sig:acct_1:call_2'])
  })

  test('a full store takes no new signatures, and still returns stored ones', async () => {
    await store.keep('acct_1', long('call_1'))
    isCrowded = true
    await store.keep('acct_1', long('call_2'))
    expect([...kept.keys()]).toEqual(['sig:acct_1:call_1'])
    expect((await restored(historyOf(call('call_1')))).length).toBe(2)
  })
})

test('a failing store loses signatures but no answer', async () => {
  const down = () => Promise.reject(new Error('gone'))
  const failing = createSignatureStore({ set: down, get: down, delete: down, count: down, isCrowded: () => false })
  await failing.keep('acct_1', collected())
  const history = historyOf(call('call_1'))
  expect(await failing.restore('acct_1', history)).toBe(history)
})

test('a foreign value under a signature’s Redis key is ignored', async () => {
  await store.keep('acct_1', collected())
  for (const name of kept.keys()) kept.set(name, '{"reasoning":1}')
  const history = historyOf(call('call_1'))
  expect(await store.restore('acct_1', history)).toBe(history)
})

test('in a long history the signatures of the last calls are looked up, and a long id is cut', async () => {
  let asked = 0
  const keeper = {
    isCrowded: () => false,
    count: async () => 0,
    delete: async () => undefined,
    set: async () => undefined,
    async get(key: string) {
      asked++
      expect(key.length).toBeLessThan(1_000)
      return null
    },
  }
  const counting = createSignatureStore(keeper)
  const calls = Array.from({ length: 400 }, (_, index) => call(`${index}${'x'.repeat(5_000)}`))
  await counting.restore('acct_1', historyOf(...calls))
  expect(asked).toBe(256)
})
