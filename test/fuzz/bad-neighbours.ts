/** What bad neighbours do: for each thing that all share, the worst that one customer can make of it. */
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { withDeadline } from '@/lib/deadline'
import { isJsonObject, textOf } from '@/lib/json'
import type { SHARED } from '@/limits/shared-resources'
import type { Neighbour, NeighbourUser } from './annoyance'
import { HOLDING } from './holding-neighbours'
import { LIMITED_WORDS, LONG_WORDS, SIGNED_WORDS } from './provider'

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
const largeText = JSON.stringify({
  ...{ model: 'svc/patient', max_tokens: 1 },
  messages: [{ role: 'user', content: 'So it goes. '.repeat(MIB / 12) }],
})
const MANY_TEXTS = JSON.stringify({
  model: 'svc/vectors',
  input: Array.from({ length: 2_048 }, (_, index) => `x${index}`),
})
/** As many tools and models as there may be. */
const TOOLS = JSON.stringify({
  ...{ model: 'svc/patient', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  fallback: ['svc/alpha', 'svc/messages', 'svc/responses'],
  tools: Array.from({ length: 128 }, (_, index) => ({
    type: 'function',
    function: { name: `f${index}`, parameters: { type: 'object', properties: { x: { type: 'string' } } } },
  })),
})
const FREE = ['/v1/messages/count_tokens', '/v1/responses/input_tokens', '/v1/route?format=messages']

function send(
  url: string,
  { key }: NeighbourUser,
  path: string,
  body: string,
  more: Record<string, string> = {},
): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
  return fetch(url + path, { method: 'POST', headers, body }).then((response) => response.text())
}

const resume = (input: unknown, previous?: string) =>
  JSON.stringify({ model: 'svc/responses', input, previous_response_id: previous, max_output_tokens: 1_000_000 })
const storedAfter = (characters: number) => resume('So? '.repeat(characters / 4))
const NAMED = resume(Array.from({ length: 10_000 }, () => ({ id: 'msg_1' })))
const NAMED_LESS = resume(Array.from({ length: 1_000 }, () => ({ id: 'msg_1' })))

const hello = (content: string) =>
  JSON.stringify({ model: 'svc/patient', messages: [{ role: 'user', content }], max_tokens: 9 })
const CHAT = '/v1/chat/completions'
/** As dear to count as they are to guess, so that little credit makes them be counted. */
const RARE_AND_SHORT = JSON.stringify({
  ...{ model: 'svc/alpha', max_tokens: 1 },
  messages: [{ role: 'user', content: 'ideograph 龘靐齉齾'.repeat(4_000) }],
})

/** From a client whose format has no room for what a provider signs. */
const SIGNED = JSON.stringify({
  ...{ model: 'svc/messages', max_tokens: 9, messages: [{ role: 'user', content: SIGNED_WORDS }] },
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
})

/** A change of something of one's own, from the pages. */
function change(url: string, { cookie, accountId, spareKeyId }: NeighbourUser, turn: number): Promise<unknown> {
  const headers = { cookie, origin: url, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: `name ${turn}` })
  return fetch(`${url}/dashboard/api/a/${accountId}/keys/${spareKeyId}`, { method: 'PATCH', headers, body }).then(
    (response) => response.text(),
  )
}

/** Asks strangers whether they want one's alerts, over and over. */
async function askStrangers(url: string, { cookie, accountId }: NeighbourUser, turn: number): Promise<unknown> {
  const headers = { cookie, origin: url, 'content-type': 'application/json' }
  const body = JSON.stringify({ email: `stranger-${turn}@example.test` })
  const post = (path: string) =>
    fetch(`${url}/dashboard/api/a/${accountId}/alerts/addresses${path}`, { method: 'POST', headers, body })
  const added = await post('')
  await added.text()
  const removed = await post('/remove')
  return await removed.text()
}

function guessPassword(url: string, turn: number): Promise<unknown> {
  const headers = { origin: url, 'content-type': 'application/json' }
  const body = JSON.stringify({ email: `nobody-${turn}@example.test`, password: `a guess that is wrong ${turn}` })
  return fetch(`${url}/dashboard/api/session/sign-in`, { method: 'POST', headers, body }).then((response) =>
    response.text(),
  )
}

/** Asks, and leaves before the provider has sent a byte. */
async function hangUp(url: string, { key }: NeighbourUser, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const leaving = new AbortController()
  const asking = fetch(url + CHAT, { method: 'POST', headers, body, signal: leaving.signal })
  await withDeadline(asking, 50, () => undefined)
  leaving.abort()
}

const LINE = `${JSON.stringify({ custom_id: '1', method: 'POST', url: CHAT, body: JSON.parse(hello('Hi')) })}\n`

/** Uploads a file for a batch. Returns its id, if it was accepted. */
async function uploadFile(url: string, { key }: NeighbourUser, content: string): Promise<string | undefined> {
  const body = new FormData()
  body.append('purpose', 'batch')
  body.append('file', new File([content], 'lines.jsonl'))
  const response = await fetch(`${url}/v1/files`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })
  const told: unknown = await response.json().catch(() => undefined)
  return isJsonObject(told) ? textOf(told.id) : undefined
}

/** Makes a batch of as many lines as there are ids. */
async function makeBatch(url: string, user: NeighbourUser, lines: number): Promise<unknown> {
  const text = Array.from({ length: lines }, (_, index) => LINE.replace('"1"', `"${index}"`)).join('')
  const input_file_id = await uploadFile(url, user, text)
  return send(url, user, '/v1/batches', JSON.stringify({ input_file_id, endpoint: CHAT, completion_window: '24h' }))
}

/** For each thing that is shared, by its name in the list of these. */
export const NEIGHBOURS: Readonly<Record<keyof typeof SHARED, readonly Neighbour[]>> = {
  freeAnswers: [
    {
      ...{ name: 'small free questions', atOnce: 48 },
      annoy: (url, user, turn) => send(url, user, FREE[turn % FREE.length] ?? '', hello('Hi')),
    },
  ],
  unpaidBytes: [
    {
      ...{ name: 'free bodies of names', atOnce: 12 },
      annoy: (url, user, turn) => send(url, user, FREE[turn % FREE.length] ?? '', names),
    },
    {
      ...{ name: 'paid bodies that are refused', atOnce: 12 },
      annoy: (url, user, turn) => send(url, user, '/v1/messages', turn % 2 === 0 ? names : repeated),
    },
  ],
  unreadBytes: [
    {
      ...{ name: 'bodies that are refused unread', atOnce: 3 },
      annoy: (url, user, turn) =>
        send(url, { ...user, key: 'svc-nobody' }, turn % 2 === 0 ? '/v1/messages' : '/nowhere', pictures),
    },
  ],
  unpaidTurns: [
    {
      ...{ name: 'free bodies of numbers', atOnce: 12 },
      annoy: (url, user, turn) => send(url, user, FREE[turn % FREE.length] ?? '', turn % 2 === 0 ? numbers : repeated),
    },
  ],
  longSteps: [
    {
      ...{ name: 'small bodies of many tools and models', atOnce: 48 },
      annoy: (url, user, turn) => send(url, user, turn % 2 === 0 ? CHAT : '/v1/route', TOOLS),
    },
    {
      ...{ name: 'bodies of 1 MiB', atOnce: 48 },
      annoy: (url, user) => send(url, user, CHAT, largeText),
    },
  ],
  bodies: [
    {
      ...{ name: 'bodies of 18 MiB', atOnce: 45 },
      annoy: (url, user) => send(url, user, CHAT, pictures),
    },
    {
      ...{ name: 'bodies that are announced and do not come', atOnce: 200 },
      async annoy(url, { key }) {
        const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': String(18 * MIB) }
        const connection = openRaw(url, rawRequest(`POST ${CHAT}`, headers, '{'))
        await withDeadline(connection.closed, 2_000, () => undefined)
        connection.end()
      },
    },
  ],
  vectors: [
    {
      ...{ name: 'embeddings of thousands of texts', atOnce: 24 },
      annoy: (url, user) => send(url, user, '/v1/embeddings', MANY_TEXTS),
    },
  ],
  chainBytes: [
    {
      ...{ name: 'long conversations', atOnce: 24, resumes: true },
      annoy: (url, user, turn) =>
        send(url, user, turn % 2 === 0 ? '/v1/responses' : '/v1/responses/input_tokens', resume('So?', 'resp_3')),
    },
    {
      ...{ name: 'one item many times', atOnce: 24, resumes: true },
      annoy: (url, user, turn) => send(url, user, '/v1/responses', turn % 2 === 0 ? NAMED : NAMED_LESS),
    },
    {
      ...{ name: 'pages of long conversations', atOnce: 24, resumes: true },
      annoy: (url, { key }) =>
        fetch(`${url}/v1/responses/resp_3/input_items?limit=100`, { headers: { authorization: `Bearer ${key}` } }).then(
          (response) => response.text(),
        ),
    },
  ],
  chainValues: [
    {
      ...{ name: 'conversations of many values', atOnce: 24, resumes: true },
      annoy: (url, user, turn) =>
        send(url, user, '/v1/responses', resume('So?', turn % 2 === 0 ? 'resp_values' : 'resp_many_values')),
    },
  ],
  keptAnswers: [
    {
      ...{ name: 'long answers that are kept', atOnce: 12 },
      annoy: (url, user) => send(url, user, CHAT, hello(LONG_WORDS), { 'idempotency-key': crypto.randomUUID() }),
    },
  ],
  signatures: [
    {
      ...{ name: 'long thoughts that are signed', atOnce: 24 },
      annoy: (url, user) => send(url, user, CHAT, SIGNED),
    },
  ],
  storedCopies: [
    {
      ...{ name: 'answers that are stored', atOnce: 24 },
      annoy: (url, user) => send(url, user, '/v1/responses', storedAfter(50_000)),
    },
  ],
  storedWrites: [
    {
      ...{ name: 'long answers that are stored', atOnce: 24 },
      annoy: (url, user) => send(url, user, '/v1/responses', storedAfter(200_000)),
    },
  ],
  idempotencyKeys: [
    {
      ...{ name: 'keys without end', atOnce: 48 },
      annoy: (url, user) => send(url, user, CHAT, hello('Hi'), { 'idempotency-key': crypto.randomUUID() }),
    },
  ],
  paidCounts: [
    {
      ...{ name: 'paid counts of rare words', atOnce: 48, usd: '0.07' },
      annoy: (url, user) => send(url, user, CHAT, RARE_AND_SHORT),
    },
  ],
  freeCounts: [
    {
      ...{ name: 'free counts of rare words', atOnce: 48 },
      annoy: (url, user) => send(url, user, '/v1/messages/count_tokens', rare),
    },
  ],
  readingOn: [
    {
      ...{ name: 'clients that leave before the first byte', atOnce: 48 },
      annoy: (url, user) => hangUp(url, user, hello('Hi')),
    },
  ],
  keyLimits: [
    {
      ...{ name: 'requests that the provider limits', atOnce: 4 },
      annoy: (url, user) => send(url, user, CHAT, hello(LIMITED_WORDS)),
    },
  ],
  batchUploads: [
    {
      ...{ name: 'files of many short lines', atOnce: 12 },
      annoy: (url, user) => uploadFile(url, user, LINE.repeat(10_000)),
    },
  ],
  batchStorage: [
    {
      ...{ name: 'files of one long line', atOnce: 4 },
      annoy: (url, user) => uploadFile(url, user, 'x'.repeat(16 * MIB)),
    },
  ],
  batchLines: [{ name: 'batches of many lines', atOnce: 4, annoy: (url, user) => makeBatch(url, user, 500) }],
  ...HOLDING,
  changes: [{ name: 'changes without end', atOnce: 12, annoy: change }],
  mails: [{ name: 'mails to strangers', atOnce: 12, annoy: askStrangers }],
  hashing: [{ name: 'guesses of passwords', atOnce: 24, annoy: (url, _, turn) => guessPassword(url, turn) }],
}
