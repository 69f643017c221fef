/** Stored answers in Postgres: written in batches, read and deleted by account and id, with a total for each account. */
import { and, desc, eq, gt, inArray, sql } from 'drizzle-orm'
import type { Fragment, Sql } from 'postgres'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import { storedResponseItems, storedResponses, storedResponseTotals } from '@/db/stored-response-schema'
import type { ItemOwner } from './copies'
import { MAX_CHAIN_LINKS, STORED_ID } from './limits'
import type { NewResponse, StoredResponse } from './stored-items'

export type StoredTotal = { kept: number; bytes: number }

/** Inserts missing rows, unless the account stores no answers any more. Returns the rows refused for that reason. */
export function insertRows({ db }: Database, rows: readonly NewResponse[]): Promise<NewResponse[]> {
  return db.transaction(async (transaction) => {
    const unwilling = await unwillingAmong(transaction, rows)
    const willing = rows.filter(({ accountId }) => !unwilling.has(accountId))
    if (willing.length > 0) await insertWilling(transaction, willing)
    return rows.filter(({ accountId }) => unwilling.has(accountId))
  })
}

async function unwillingAmong(transaction: Transaction, rows: readonly NewResponse[]): Promise<ReadonlySet<string>> {
  const asked = [...new Set(rows.map(({ accountId }) => accountId))]
  const found = await transaction
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(inArray(accounts.id, asked), eq(accounts.storedResponseHours, 0)))
  return new Set(found.map(({ id }) => id))
}

async function insertWilling(transaction: Transaction, rows: readonly NewResponse[]): Promise<void> {
  const values = rows.map((row) => ({
    ...row,
    createdAt: new Date(row.createdMs),
    expiresAt: new Date(row.expiresMs),
  }))
  const fresh = await transaction
    .insert(storedResponses)
    .values(values)
    .onConflictDoNothing()
    .returning({ accountId: storedResponses.accountId, id: storedResponses.id, bytes: storedResponses.bytes })
  const isFresh = new Set(fresh.map(({ accountId, id }) => `${accountId} ${id}`))
  const items = rows.filter(({ accountId, id }) => isFresh.has(`${accountId} ${id}`)).flatMap(itemRows)
  for (let start = 0; start < items.length; start += ITEMS_AT_ONCE) {
    await transaction
      .insert(storedResponseItems)
      .values(items.slice(start, start + ITEMS_AT_ONCE))
      .onConflictDoNothing()
  }
  await addToTotals(transaction, fresh)
}

/** Postgres allows 65,535 parameters per statement. */
const ITEMS_AT_ONCE = 10_000

/** An id that occurs twice in one answer refers to its first item. */
function itemRows({ accountId, id: responseId, items }: NewResponse) {
  const placed = items.map(({ id, bytes }, place) => ({ accountId, itemId: id, responseId, bytes, place }))
  const first = new Map(placed.toReversed().map((item) => [item.itemId, item]))
  return [...first.values()].filter(({ itemId }) => STORED_ID.test(itemId))
}

/** Adds new answers to the accounts' totals. Always in the same order of accounts, to avoid deadlocks between gateways. */
async function addToTotals(transaction: Transaction, fresh: readonly { accountId: string; bytes: number }[]) {
  const sums = new Map<string, StoredTotal>()
  for (const { accountId, bytes } of fresh) {
    const sum = sums.get(accountId) ?? { kept: 0, bytes: 0 }
    sums.set(accountId, { kept: sum.kept + 1, bytes: sum.bytes + bytes })
  }
  const rows = [...sums].map(([accountId, sum]) => ({ accountId, ...sum }))
  rows.sort((one, other) => (one.accountId < other.accountId ? -1 : 1))
  if (rows.length === 0) return
  const { kept, bytes, accountId } = storedResponseTotals
  const set = { kept: sql`${kept} + excluded.kept`, bytes: sql`${bytes} + excluded.bytes` }
  await transaction.insert(storedResponseTotals).values(rows).onConflictDoUpdate({ target: accountId, set })
}

/** One unexpired answer of the account; undefined for other accounts' answers. */
export async function findRow({ db }: Database, accountId: string, id: string): Promise<StoredResponse | undefined> {
  const [row] = await db
    .select()
    .from(storedResponses)
    .where(
      and(
        eq(storedResponses.accountId, accountId),
        eq(storedResponses.id, id),
        gt(storedResponses.expiresAt, sql`now()`),
      ),
    )
  return row && toStored(row)
}

export type Link = {
  id: string
  parentId: string | null
  bytes: number
  jsonValues: number
  tokens: number | null
  inputItems: number
  outputItems: number
}

/**
 * `id` and its stored predecessors, newest first: at most one more than the longest chain that a request may continue. `LIMIT` makes
 * Postgres look up each answer by its id. For a small table without statistics it would read all of the account's rows.
 */
export async function measureChain({ sql }: Database, accountId: string, id: string): Promise<Link[]> {
  const measures = sql`bytes, json_values, tokens, input_items, output_items, parent_id`
  return await sql<Link[]>`
    WITH RECURSIVE chain AS (
      SELECT id, ${measures}, 1 AS depth FROM stored_responses
      WHERE account_id = ${accountId} AND id = ${id} AND expires_at > now()
      UNION ALL
      SELECT parent.*, chain.depth + 1 FROM chain CROSS JOIN LATERAL (
        SELECT id, ${measures} FROM stored_responses
        WHERE account_id = ${accountId} AND id = chain.parent_id AND expires_at > now() LIMIT 1
      ) AS parent WHERE chain.depth <= ${MAX_CHAIN_LINKS}
    ) SELECT id, bytes, parent_id AS "parentId", json_values AS "jsonValues", tokens, input_items AS "inputItems",
      output_items AS "outputItems" FROM chain ORDER BY depth`
}

/** These answers in this order, up to the first missing one. */
export async function findRows({ db }: Database, accountId: string, ids: readonly string[]): Promise<StoredResponse[]> {
  if (ids.length === 0) return []
  const rows = await db
    .select()
    .from(storedResponses)
    .where(and(eq(storedResponses.accountId, accountId), inArray(storedResponses.id, [...ids])))
  const byId = new Map(rows.map((row) => [row.id, toStored(row)]))
  const gone = ids.findIndex((id) => !byId.has(id))
  return ids.slice(0, gone === -1 ? ids.length : gone).flatMap((id) => byId.get(id) ?? [])
}

/** Items `first` to `last` (from 1) of the input of an answer's request, each as JSON, in order. */
export async function readInput({ sql }: Database, accountId: string, id: string, first: number, last: number) {
  const rows = await sql<{ text: string }[]>`
    SELECT item.value::text AS text FROM stored_responses,
      json_array_elements(input::json) WITH ORDINALITY AS item(value, place)
    WHERE account_id = ${accountId} AND id = ${id} AND place BETWEEN ${first} AND ${last} ORDER BY place`
  return rows.map(({ text }) => text)
}

/** Finds which of these answers contain an item, with its index in each. */
export async function findPlaces({ db }: Database, accountId: string, itemId: string, ids: readonly string[]) {
  const { responseId, place } = storedResponseItems
  return await db
    .select({ responseId, place })
    .from(storedResponseItems)
    .where(
      and(
        eq(storedResponseItems.accountId, accountId),
        eq(storedResponseItems.itemId, itemId),
        inArray(responseId, [...ids]),
      ),
    )
}

/** The newest answer that has each of these items, by the item's id. */
export async function findOwners(
  { db }: Database,
  accountId: string,
  itemIds: readonly string[],
): Promise<Map<string, ItemOwner>> {
  const { id, bytes } = storedResponses
  const rows = await db
    .select({ itemId: storedResponseItems.itemId, id, bytes, itemBytes: storedResponseItems.bytes })
    .from(storedResponseItems)
    .innerJoin(
      storedResponses,
      and(
        eq(storedResponses.accountId, storedResponseItems.accountId),
        eq(storedResponses.id, storedResponseItems.responseId),
        gt(storedResponses.expiresAt, sql`now()`),
      ),
    )
    .where(and(eq(storedResponseItems.accountId, accountId), inArray(storedResponseItems.itemId, [...itemIds])))
    .orderBy(desc(storedResponses.createdAt))
  // Reversed, since Map keeps the last of equal ids.
  return new Map(rows.toReversed().map(({ itemId, ...owner }) => [itemId, owner]))
}

/** The number and bytes of the account's stored answers. */
export async function readTotal({ db }: Database, accountId: string): Promise<StoredTotal> {
  const [row] = await db
    .select({ kept: storedResponseTotals.kept, bytes: storedResponseTotals.bytes })
    .from(storedResponseTotals)
    .where(eq(storedResponseTotals.accountId, accountId))
  return row ?? { kept: 0, bytes: 0 }
}

/** Deletes one answer of the account. Returns whether it existed. */
export async function deleteRow({ sql }: Database, accountId: string, id: string): Promise<boolean> {
  return (await deleteWhere(sql, sql`account_id = ${accountId} AND id = ${id}`)).length > 0
}

/** Deletes an answer if its account has meanwhile chosen to store nothing. Returns whether the answer was deleted. */
export async function deleteUnwanted({ sql }: Database, { accountId, id }: StoredResponse): Promise<boolean> {
  const isUnwanted = sql`EXISTS (SELECT FROM accounts WHERE accounts.id = ${accountId} AND stored_response_hours = 0)`
  return (await deleteWhere(sql, sql`account_id = ${accountId} AND id = ${id} AND ${isUnwanted}`)).length > 0
}

/** Deletes all of an account's answers, and returns them. */
export function deleteRowsOf({ sql }: Database, accountId: string): Promise<DeletedRow[]> {
  return deleteWhere(sql, sql`account_id = ${accountId}`)
}

/** Deletes up to `count` expired answers, and returns their number. */
export async function deleteExpired({ sql }: Database, count: number): Promise<number> {
  const due = sql`SELECT account_id, id FROM stored_responses WHERE expires_at <= now()
    ORDER BY expires_at LIMIT ${count} FOR UPDATE SKIP LOCKED`
  return (await deleteWhere(sql, sql`(account_id, id) IN (${due})`)).length
}

/** Deletes the oldest answers of an account until it is within both limits. */
export async function deleteBeyond({ sql }: Database, accountId: string, limits: StoredTotal): Promise<number> {
  const beyond = sql`SELECT id FROM (
      SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS sum FROM stored_responses
      WHERE account_id = ${accountId} WINDOW newest AS (ORDER BY created_at DESC, id)
    ) placed WHERE place > ${limits.kept} OR sum > ${limits.bytes}`
  return (await deleteWhere(sql, sql`account_id = ${accountId} AND id IN (${beyond})`)).length
}

/** Limits the lifetime of an account's answers to `hours`. */
export async function shortenLives({ sql }: Database, accountId: string, hours: number): Promise<void> {
  await sql`UPDATE stored_responses SET expires_at = created_at + ${hours} * interval '1 hour'
    WHERE account_id = ${accountId} AND expires_at > created_at + ${hours} * interval '1 hour'`
}

type DeletedRow = { id: string; createdMs: number }

/** Deletes rows and reduces the accounts' totals in one statement, so that both stay consistent. */
async function deleteWhere(sql: Sql, condition: Fragment): Promise<DeletedRow[]> {
  return await sql<DeletedRow[]>`
    WITH gone AS (DELETE FROM stored_responses WHERE ${condition} RETURNING account_id, id, bytes, created_at),
    sums AS (SELECT account_id, count(*) AS kept, sum(bytes) AS bytes FROM gone GROUP BY account_id),
    told AS (UPDATE stored_response_totals total SET kept = total.kept - sums.kept, bytes = total.bytes - sums.bytes
      FROM sums WHERE total.account_id = sums.account_id)
    SELECT id, (extract(epoch FROM created_at) * 1000)::double precision AS "createdMs" FROM gone`
}

function toStored({ createdAt, expiresAt, ...row }: typeof storedResponses.$inferSelect): StoredResponse {
  return { ...row, createdMs: createdAt.getTime(), expiresMs: expiresAt.getTime() }
}
