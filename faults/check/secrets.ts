/** I8: upstream keys, customers' keys, passwords and prompts are where they belong and nowhere else. */

import { UPSTREAM_SECRET } from '@faults/world/catalog-file'
import type { Sighting } from '@faults/world/client'
import { PROMPT_CANARY } from '@faults/world/request'
import type { World } from '@faults/world/world'
import { Cluster, type Redis } from 'ioredis'
import type { Breach } from './evidence'

interface SecretSearch {
  /** Looks at everything that was written since the last look. */
  check(sightings: readonly Sighting[]): Promise<Breach[]>
}

/** A whole key of a customer. */
const CUSTOMER_KEY = /svc-[0-9A-Za-z]{36}/
const SCAN_COUNT = 1_000

/** Creates the search of one world. */
export function createSecretSearch(world: World): SecretSearch {
  const read = new Map<string, number>()
  const seenNames = new Set<string>()
  const { bank, gateways, postgres } = world
  const secrets = new Map([
    ['the upstream key', UPSTREAM_SECRET],
    ['a prompt', PROMPT_CANARY],
    ['the database password', new URL(postgres.url).password],
  ])

  function search(place: string, text: string): Breach[] {
    const found = [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name)
    if (CUSTOMER_KEY.test(text)) found.push("a customer's key")
    return found.map((name) => ({ invariant: 'I8', detail: `${name} is in ${place}` }))
  }

  function searchLogs(): Breach[] {
    return gateways.flatMap((gateway) => {
      const text = gateway.output()
      const from = read.get(gateway.name) ?? 0
      read.set(gateway.name, text.length)
      return search(`the log of ${gateway.name}`, text.slice(from))
    })
  }

  async function searchHistory(): Promise<Breach[]> {
    const { sql } = bank.database
    const tables = await sql<{ name: string }[]>`
      SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition`
    const pattern = [...secrets.values(), CUSTOMER_KEY.source].join('|')
    const breaches: Breach[] = []
    for (const { name } of tables) {
      const [row] = await sql`SELECT 1 FROM ${sql(name)} t WHERE t::text ~ ${pattern} LIMIT 1`
      if (row) breaches.push({ invariant: 'I8', detail: `a secret is in the table ${name}` })
    }
    return breaches
  }

  async function searchStore(): Promise<Breach[]> {
    const nodes = bank.redis instanceof Cluster ? bank.redis.nodes('master') : [bank.redis]
    const breaches: Breach[] = []
    for (const node of nodes) {
      for await (const name of newNames(node, seenNames)) {
        breaches.push(...search(`the store's ${name}`, JSON.stringify(await readAny(node, name)) ?? ''))
      }
    }
    return breaches
  }

  return {
    async check(sightings) {
      const answers = sightings.flatMap(({ raw, marker }) => search(`the answer to ${marker}`, raw))
      return [...answers, ...searchLogs(), ...(await searchHistory()), ...(await searchStore())]
    },
  }
}

/** Names that were not looked at before. Tombstones of holds never change; everything else is looked at again. */
async function* newNames(node: Redis, seen: Set<string>): AsyncGenerator<string> {
  let cursor = '0'
  do {
    const [next, names] = await node.scan(cursor, 'COUNT', SCAN_COUNT)
    for (const name of names) {
      if (!seen.has(name)) yield name
      if (name.includes(':hold:')) seen.add(name)
    }
    cursor = next
  } while (cursor !== '0')
}

async function readAny(node: Redis, name: string): Promise<unknown> {
  switch (await node.type(name)) {
    case 'hash':
      return node.hgetall(name)
    case 'stream':
      return node.xrange(name, '-', '+')
    case 'list':
      return node.lrange(name, 0, -1)
    case 'string':
      return node.get(name)
    default:
      return undefined
  }
}
