/** One request of an account in full, by its id or its answer's: its charge, or why it failed. */
import type { FormatName } from '@/chat/format-name'
import type { FinishKind } from '@/chat/response'
import type { UnitCount } from '@/chat/units'
import type { Usage } from '@/chat/usage'
import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { BillingRule, RecordFlag, ToolCharge, UsageRecord } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'
import type { Asker, SightOf } from './reports'

type Generation = {
  requestId: string
  answerId: string | null
  keyId: string
  model: string
  requestedModel: string
  provider: string
  clientFormat: FormatName
  stream: boolean
  status: number
  attempts: number
  routeReason: string | null
  usage: Usage
  tools: readonly ToolCharge[]
  rule: BillingRule
  flags: readonly RecordFlag[]
  cost: Nano
  finish: FinishKind | null
  serviceTier: string | null
  app: string | null
  dataRules: readonly string[] | null
  dataTerms: string | null
  startedAtMs: number
  firstTokenMs: number | null
  durationMs: number
}

type FailedGeneration = {
  requestId: string
  keyId: string
  model: string | null
  clientFormat: FormatName
  status: number
  code: string
  words: string
  atMs: number
}

export type FoundGeneration =
  | { kind: 'charged'; generation: Generation }
  | { kind: 'failed'; failure: FailedGeneration }

export interface Generations {
  /** The request with this id, if the asker may see it; otherwise undefined. A charge is found as soon as it is settled. */
  find(asker: Asker, id: string): Promise<FoundGeneration | undefined>
}

type Part = Generation & { recordId: string }

/** The requests that the asker may see: all of the account's, or only this person's. */
type Scope = { accountId: string; madeBy?: string | undefined }

/** The number of the account's latest records that the ledger searches: those of about the last second. */
const MAX_UNSYNCED = 2_000

/** Matches the prefix of an answer's id that has the format's prefix and the hexadecimal digits of the request's id. */
const MADE_ID = /^[a-z]+_(?=[0-9a-f]{32}$)/

/** Reads requests of the last second from the ledger, and older ones from Postgres. */
export function createGenerations(
  database: Database,
  ledger: Pick<Ledger, 'latestRecords'>,
  sightOfKey: SightOf,
): Generations {
  return {
    async find({ accountId, keyId }, id) {
      const { madeBy } = keyId === undefined ? {} : await sightOfKey({ accountId, keyId })
      const scope = { accountId, madeBy }
      // Records leave the stream only when they are in Postgres, so reading the stream first misses none.
      const unsynced = (await ledger.latestRecords(accountId, MAX_UNSYNCED)).filter(
        ({ memberId }) => madeBy === undefined || (madeBy !== '' && memberId === madeBy),
      )
      const requestId =
        unsynced.find(({ facts }) => facts.answerId === id)?.facts.requestId ??
        (await requestOfAnswer(database, scope, id)) ??
        id.replace(MADE_ID, 'req_')
      const recent = unsynced.filter(({ facts }) => facts.requestId === requestId).map(partOf)
      const known = new Set(recent.map(({ recordId }) => recordId))
      const booked = await readParts(database, scope, requestId)
      const parts = [...booked.filter(({ recordId }) => !known.has(recordId)), ...recent.reverse()]
      const last = parts.at(-1)
      if (last) {
        const { recordId: _, ...generation } = last
        const cost = nano(parts.reduce((sum, part) => sum + part.cost, 0))
        return { kind: 'charged', generation: { ...generation, cost } }
      }
      const failure = await readFailure(database, scope, requestId)
      return failure && { kind: 'failed', failure }
    },
  }
}

function partOf({ recordId, keyId, cost, flags, facts }: UsageRecord): Part {
  return {
    ...facts,
    recordId,
    keyId,
    cost,
    flags: [...new Set([...facts.flags, ...flags])],
    tools: facts.tools ?? [],
    answerId: facts.answerId ?? null,
    routeReason: facts.routeReason || null,
    finish: facts.finish ?? null,
    serviceTier: facts.serviceTier ?? null,
    app: facts.labels?.app ?? null,
    dataRules: facts.data?.rules ?? null,
    dataTerms: facts.data?.terms ?? null,
  }
}

async function requestOfAnswer({ sql }: Database, { accountId }: Scope, id: string): Promise<string | undefined> {
  const [row] = await sql<{ request_id: string }[]>`
    SELECT request_id FROM usage_records WHERE account_id = ${accountId} AND answer_id = ${id}
    ORDER BY settled_at DESC LIMIT 1`
  return row?.request_id
}

type Row = Omit<Part, 'usage' | 'tools'> &
  Omit<Usage, 'units'> & { tools: ToolCharge[] | null; units: UnitCount[] | null }

/** A record has the id of its request, so that the primary key finds it in every month. Oldest first. */
async function readParts({ sql }: Database, { accountId, madeBy }: Scope, requestId: string): Promise<Part[]> {
  const ofTheirs = madeBy === undefined ? sql`` : sql`AND member_id = nullif(${madeBy}, '')`
  const rows = await sql<Row[]>`
    SELECT event_id AS "recordId", request_id AS "requestId", answer_id AS "answerId", key_id AS "keyId", model,
      requested_model AS "requestedModel", provider, client_format AS "clientFormat", stream, status, attempts,
      route_reason AS "routeReason", rule, to_json(flags) AS flags, cost_nano::bigint AS cost, finish, service_tier AS "serviceTier", app, tool_charges AS tools, units,
      to_json(data_rules) AS "dataRules", data_terms AS "dataTerms",
      uncached_tokens::bigint AS uncached, cache_read_tokens::bigint AS "cacheRead",
      cache_write_5m_tokens::bigint AS "cacheWrite5m", cache_write_1h_tokens::bigint AS "cacheWrite1h",
      output_tokens::bigint AS output, reasoning_tokens::bigint AS reasoning,
      floor(extract(epoch FROM started_at) * 1000)::bigint AS "startedAtMs",
      first_token_ms AS "firstTokenMs", duration_ms AS "durationMs"
    FROM usage_records
    WHERE event_id IN (${requestId}, ${`${requestId}:late`}) AND account_id = ${accountId} ${ofTheirs}
    ORDER BY settled_at, seq`
  return rows.map(({ uncached, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning, tools, units, ...row }) => ({
    ...row,
    tools: tools ?? [],
    usage: { uncached, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning, ...(units && { units }) },
  }))
}

async function readFailure({ sql }: Database, { accountId, madeBy }: Scope, requestId: string) {
  const ofTheirs = madeBy === undefined ? sql`` : sql`AND member_id = nullif(${madeBy}, '')`
  const [row] = await sql<FailedGeneration[]>`
    SELECT request_id AS "requestId", key_id AS "keyId", model, format AS "clientFormat", status, code, words,
      (extract(epoch FROM failed_at) * 1000)::bigint AS "atMs"
    FROM failed_requests WHERE request_id = ${requestId} AND account_id = ${accountId} ${ofTheirs}
    ORDER BY failed_at DESC LIMIT 1`
  return row
}
