/** Bad neighbours who ask for little and hold what they get: slots of a provider, answers that nobody reads, connections, look-ups. */
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { withDeadline } from '@/lib/deadline'
import type { Neighbour, NeighbourUser } from './annoyance'
import { SLOW_WORDS } from './provider'

/** How long who holds something holds it. */
const HELD_MS = 2_000
/** Another address of this machine, so that the other customer's is not the one that has too many connections. */
const OWN_ADDRESS = '127.0.0.2'
const CHAT = '/v1/chat/completions'

const slowly = (stream: boolean) =>
  JSON.stringify({ model: 'svc/patient', stream, messages: [{ role: 'user', content: SLOW_WORDS }], max_tokens: 9 })

const headersOf = ({ key }: NeighbourUser, body: string) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  'content-length': String(body.length),
})

/** Asks from a connection of its own, whose answer it does not read, and leaves. */
async function holdUnread(url: string, user: NeighbourUser): Promise<void> {
  const body = slowly(true)
  const connection = openRaw(url, rawRequest(`POST ${CHAT}`, headersOf(user, body), body), OWN_ADDRESS)
  connection.pause()
  await withDeadline(connection.closed, HELD_MS, () => undefined)
  connection.end()
}

async function holdSlot(url: string, { key }: NeighbourUser): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await (await fetch(url + CHAT, { method: 'POST', headers, body: slowly(false) })).text()
}

/** Says a head that is accepted, and then nothing for as long as it may. */
async function holdConnection(url: string): Promise<void> {
  const connection = openRaw(url, rawRequest('GET /healthz'), OWN_ADDRESS)
  await withDeadline(connection.closed, HELD_MS, () => undefined)
  connection.end()
}

const DAY_MS = 86_400_000
const SMALL_PAGES = ['keys', 'members', 'orders', 'budgets']
const PAGES = ['usage/totals?status=ok', 'usage?limit=100', 'usage/series', 'usage/choices', 'overview', 'failures']

async function lookUp(url: string, { cookie, accountId }: NeighbourUser, page: string): Promise<void> {
  await (await fetch(`${url}/dashboard/api/a/${accountId}/${page}`, { headers: { cookie } })).text()
}

export const HOLDING = {
  providerSlots: [{ name: 'slow answers that hold slots', atOnce: 200, annoy: holdSlot }],
  openRequests: [{ name: 'streams that nobody reads', atOnce: 60, annoy: holdUnread }],
  connections: [{ name: 'connections that say nothing', atOnce: 400, annoy: holdConnection }],
  reads: [
    {
      ...{ name: 'small pages without end', atOnce: 48 },
      annoy: (url, user, turn) => lookUp(url, user, SMALL_PAGES[turn % SMALL_PAGES.length] ?? ''),
    },
  ],
  pageReads: [
    {
      ...{ name: 'pages without end', atOnce: 48 },
      annoy: (url, user, turn) => lookUp(url, user, PAGES[turn % PAGES.length] ?? ''),
    },
  ],
  exports: [
    {
      ...{ name: 'exports without end', atOnce: 24 },
      annoy: (url, user) => lookUp(url, user, `usage/export?from=${Date.now() - 30 * DAY_MS}`),
    },
  ],
} satisfies Record<string, readonly Neighbour[]>
