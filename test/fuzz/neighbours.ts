/**
 * Bad neighbours: one customer does their worst with one of the things that all share, and another one, who only wants answers, must
 * hardly notice.
 */
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { withDeadline } from '@/lib/deadline'
import type { FuzzUser, GatewayProcess } from './world'

type Neighbour = {
  name: string
  /** How many of them at once. */
  atOnce: number
  /** Does it once. */
  annoy(url: string, user: FuzzUser, turn: number): Promise<unknown>
}

/** How much slower the slowest hundredth of the other's answers may get. */
const MOST_TIMES = 3
/** How long each neighbour goes on. */
const SPAN_MS = 8_000
/** How many answers the other one waits for at once. */
const WANTED_AT_ONCE = 4
/** Between two of a neighbour's requests: the clients of both have the same processors as the gateway. */
const PAUSE_MS = 25
const MIB = 1024 * 1024

const names = `{"model":"svc/alpha","max_tokens":1,"messages":[],"x":{${Array.from(
  { length: 240_000 },
  (_, index) => `"${index * 7_919}":1.0`,
).join(',')}}}`
const numbers = `{"model":"svc/alpha","max_tokens":1,"messages":[],"x":[${'1.0,'.repeat(90_000)}1]}`
const repeated = `{"model":"svc/alpha","max_tokens":1,"messages":[],"x":[${Array.from(
  { length: 45_000 },
  (_, index) => `{"${(index % 9_000) * 7_919}":1.0}`,
).join(',')}]}`
const rare = JSON.stringify({
  ...{ model: 'svc/alpha', max_tokens: 1 },
  messages: [{ role: 'user', content: 'ideograph 龘靐齉齾'.repeat(9_000) }],
})
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'x'.repeat(18 * MIB)}` } }
const pictures = JSON.stringify({ model: 'svc/patient', messages: [{ role: 'user', content: [picture] }] })
const FREE = ['/v1/messages/count_tokens', '/v1/responses/input_tokens', '/v1/route?format=messages']

function send(url: string, { key }: FuzzUser, path: string, body: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(url + path, { method: 'POST', headers, body }).then((response) => response.text())
}

const resume = (input: unknown, previous?: string) =>
  JSON.stringify({ model: 'svc/responses', input, previous_response_id: previous, max_output_tokens: 1_000_000 })
const NAMED = resume(Array.from({ length: 10_000 }, () => ({ id: 'msg_1' })))
const NAMED_LESS = resume(Array.from({ length: 1_000 }, () => ({ id: 'msg_1' })))

/** One for each thing that is shared. */
const NEIGHBOURS: readonly Neighbour[] = [
  {
    ...{ name: 'free bodies of names', atOnce: 12 },
    annoy: (url, user, turn) => send(url, user, FREE[turn % FREE.length] ?? '', names),
  },
  {
    ...{ name: 'free bodies of numbers', atOnce: 12 },
    annoy: (url, user, turn) => send(url, user, FREE[turn % FREE.length] ?? '', turn % 2 === 0 ? numbers : repeated),
  },
  {
    ...{ name: 'paid bodies that are refused', atOnce: 12 },
    annoy: (url, user, turn) => send(url, user, '/v1/messages', turn % 2 === 0 ? names : repeated),
  },
  {
    ...{ name: 'long conversations', atOnce: 24 },
    annoy: (url, user, turn) =>
      send(url, user, turn % 2 === 0 ? '/v1/responses' : '/v1/responses/input_tokens', resume('So?', 'resp_3')),
  },
  {
    ...{ name: 'one item many times', atOnce: 24 },
    annoy: (url, user, turn) => send(url, user, '/v1/responses', turn % 2 === 0 ? NAMED : NAMED_LESS),
  },
  {
    ...{ name: 'pages of long conversations', atOnce: 24 },
    annoy: (url, { key }) =>
      fetch(`${url}/v1/responses/resp_3/input_items?limit=100`, { headers: { authorization: `Bearer ${key}` } }).then(
        (response) => response.text(),
      ),
  },
  {
    ...{ name: 'free counts of rare words', atOnce: 48 },
    annoy: (url, user) => send(url, user, '/v1/messages/count_tokens', rare),
  },
  {
    ...{ name: 'bodies of 18 MiB', atOnce: 45 },
    annoy: (url, user) => send(url, user, '/v1/chat/completions', pictures),
  },
  {
    ...{ name: 'bodies that are announced and do not come', atOnce: 200 },
    async annoy(url, { key }) {
      const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': String(18 * MIB) }
      const connection = openRaw(url, rawRequest('POST /v1/chat/completions', headers, '{'))
      await withDeadline(connection.closed, 2_000, () => undefined)
      connection.end()
    },
  },
]

/** Has each neighbour do its worst in turn. Returns what the other one noticed. */
export async function judgeNeighbours(gateway: GatewayProcess, note: (line: string) => void): Promise<string[]> {
  const { url, users } = gateway.world
  const [good, ...others] = users
  if (!good) return ['there are no neighbours']
  const faults: string[] = []
  await answersFor(url, good, 1_000)
  const alone = await answersFor(url, good, SPAN_MS)
  note(`alone: ${describe(alone)}`)
  for (const [index, { name, atOnce, annoy }] of NEIGHBOURS.entries()) {
    // Each begins with all that an account may have, as far as there are accounts.
    const neighbour = others[index % others.length] ?? good
    let isOver = false
    const annoying = Array.from({ length: atOnce }, async (_, lane) => {
      for (let turn = lane; !isOver; turn++) {
        await annoy(url, neighbour, turn).catch(() => undefined)
        await Bun.sleep(PAUSE_MS)
      }
    })
    const beside = await answersFor(url, good, SPAN_MS)
    isOver = true
    await Promise.all(annoying)
    const { stallMs } = await gateway.vitals()
    note(`beside ${name}: ${describe(beside)}, longest work ${Math.round(stallMs)} ms`)
    if (beside.failed > 0) faults.push(`beside ${name}: ${beside.failed} of another customer's requests failed`)
    if (beside.slowestMs > MOST_TIMES * alone.slowestMs) {
      faults.push(`beside ${name}: ${Math.round(beside.slowestMs)} ms, alone ${Math.round(alone.slowestMs)} ms`)
    }
  }
  return faults
}

type Answers = { count: number; failed: number; slowestMs: number }

/** Asks and asks again for so long. `slowestMs` is what all but one in a hundred stay below. */
async function answersFor(url: string, { key }: FuzzUser, spanMs: number): Promise<Answers> {
  const untilMs = performance.now() + spanMs
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'svc/patient', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 })
  const tookMs: number[] = []
  let failed = 0
  async function ask(): Promise<void> {
    while (performance.now() < untilMs) {
      const startedMs = performance.now()
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.text()
      tookMs.push(performance.now() - startedMs)
      if (response.status !== 200) failed++
    }
  }
  await Promise.all(Array.from({ length: WANTED_AT_ONCE }, ask))
  tookMs.sort((one, other) => one - other)
  return { count: tookMs.length, failed, slowestMs: tookMs[Math.floor(tookMs.length * 0.99)] ?? 0 }
}

function describe({ count, failed, slowestMs }: Answers): string {
  return `${count} answers, ${failed} failed, p99 ${Math.round(slowestMs)} ms`
}
