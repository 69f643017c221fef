/**
 * Counts the objects that one paid request creates in the gateway, with stubs for upstream and ledger. More objects
 * make every request slower. If the count falls, lower the budget.
 */

import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { recordOne } from '@bench/stages/recording'
import { stubLedger } from '@bench/stages/stubs'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatChunk, chatCompletion, usageChunk, usageOf } from '@test/support/upstream'
import { buildApp } from '@/app'

type Made = Record<keyof typeof KINDS, number>

/** What is counted, by the names that the engine has for it. Scopes are not among them: how many there are depends on the compiler. */
const KINDS = {
  promises: ['Promise'],
  asyncCalls: ['AsyncFunctionGenerator', 'Generator', 'AsyncGenerator'],
  closures: ['Function', 'AsyncFunction'],
  objects: ['Object'],
  arrays: ['Array'],
  maps: ['Map', 'Set', 'WeakMap'],
  timers: ['Timeout'],
} as const

const REQUESTS = 100
/** A collection in the middle hides what was made before it, and a busy machine lets the gateway's own work in between: the middle counts. */
const COUNTS = 5
/** What the gateway's own work may add to the middle one. */
const SLACK = 1
const PIECES = 20
const encoder = new TextEncoder()

let gateway: TestGateway
let customer: Customer
let answer: (body: Record<string, unknown>) => Promise<Response>
const realFetch = globalThis.fetch

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
  customer = await gateway.customer('10')
  const recording = await recordOne(gateway.gateway.deps, requestOf({}))
  const app = buildApp(stubLedger(gateway.gateway.deps, recording))
  answer = (body) => app.handle(requestOf(body))
})
afterAll(async () => {
  globalThis.fetch = realFetch
  await gateway.stop()
})

function requestOf(more: Record<string, unknown>): Request {
  const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Say hello' }], ...more })
  return new Request('http://127.0.0.1/v1/chat/completions', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      authorization: `Bearer ${customer.key}`,
    },
    body,
  })
}

/** Of announced length, as from nearly every provider. */
function wholeAnswer(): Response {
  const body = JSON.stringify(chatCompletion('Hello', usageOf(10, 5)))
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return new Response(body, { headers })
}

function answerWith(respond: () => Response): void {
  globalThis.fetch = Object.assign(async () => respond(), { preconnect: realFetch.preconnect })
}

/** What one of `run` makes, as an average. */
async function countMade(run: () => Promise<void>): Promise<Made> {
  for (let index = 0; index < REQUESTS; index++) await run()
  const counts: Made[] = []
  for (let count = 0; count < COUNTS; count++) {
    Bun.gc(true)
    const before = heapStats().objectTypeCounts
    for (let index = 0; index < REQUESTS; index++) await run()
    const after = heapStats().objectTypeCounts
    counts.push(
      ofEachKind((_, names) => {
        const made = names.reduce((sum, name) => sum + (after[name] ?? 0) - (before[name] ?? 0), 0)
        return Math.round(made / REQUESTS)
      }),
    )
  }
  return ofEachKind((kind) => counts.map((made) => made[kind]).toSorted((one, other) => one - other)[COUNTS >> 1] ?? 0)
}

function ofEachKind(count: (kind: keyof Made, names: readonly string[]) => number): Made {
  const kinds = Object.entries(KINDS) as [keyof Made, readonly string[]][]
  return Object.fromEntries(kinds.map(([kind, names]) => [kind, count(kind, names)])) as Made
}

function expectWithin(made: Made, budget: Made): void {
  const over = Object.entries(made).filter(([kind, count]) => count > budget[kind as keyof Made] + SLACK)
  expect({ over, made }).toEqual({ over: [], made })
}

describe('object budgets', () => {
  test('a paid JSON request creates no more objects than budgeted', async () => {
    answerWith(wholeAnswer)
    const made = await countMade(async () => {
      const response = await answer({})
      expect(response.status).toBe(200)
    })
    expectWithin(made, JSON_BUDGET)
  })

  test('a paid stream and each of its chunks create no more objects than budgeted', async () => {
    const stream = async (pieces: number) => {
      answerWith(() => streamOf(pieces))
      return await countMade(async () => {
        const response = await answer({ stream: true, max_tokens: 4_096 })
        expect(await response.text()).toEndWith('data: [DONE]\n\n')
      })
    }
    const [short, long] = [await stream(PIECES), await stream(2 * PIECES)]
    const perPiece = Object.fromEntries(
      Object.entries(long).map(([kind, count]) => [kind, Math.ceil((count - short[kind as keyof Made]) / PIECES)]),
    ) as Made
    expectWithin(short, STREAM_BUDGET)
    expectWithin(perPiece, PIECE_BUDGET)
  })

  test('a paid request creates no more objects for headers than budgeted', async () => {
    answerWith(wholeAnswer)
    expect([...(await answer({})).headers.keys()].length).toBeLessThanOrEqual(MOST_HEADERS)
  })
})

/** Each piece by a read of its own, as they come from a provider. */
function streamOf(pieces: number): Response {
  const words = Array.from({ length: pieces }, (_, index) => chatChunk({ content: `word${index} ` }))
  const events = [...words, chatChunk({}, 'stop'), usageChunk(usageOf(10, pieces))]
  const texts = [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n']
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const text = texts.shift()
      if (text === undefined) controller.close()
      else controller.enqueue(encoder.encode(text))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const MOST_HEADERS = 17
const JSON_BUDGET: Made = {
  ...{ promises: 20, asyncCalls: 11, closures: 32, objects: 137, arrays: 62, maps: 3, timers: 0 },
}
const STREAM_BUDGET: Made = {
  ...{ promises: 229, asyncCalls: 20, closures: 121, objects: 460, arrays: 266, maps: 10, timers: 2 },
}
const PIECE_BUDGET: Made = {
  ...{ promises: 8, asyncCalls: 0, closures: 0, objects: 12, arrays: 4, maps: 0, timers: 0 },
}
