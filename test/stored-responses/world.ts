/** Stored answers over real stores for a test: accounts, requests, and answers that end as a stream or as JSON does. */
import { memoryLogger } from '@test/ledger/harness'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'
import { GatewayError } from '@/chat/error'
import { connectDatabase, type Database } from '@/db/client'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import type { CopyStore } from '@/stored-responses/copies'
import type { StoredSum } from '@/stored-responses/stored-items'
import { createStoredResponses, type Resumed, type StoredResponses } from '@/stored-responses/stored-responses'

type Options = {
  maxHours?: number
  maxBytes?: number
  /** What a fault does to the copies. */
  copies?: (whole: CopyStore) => CopyStore
  now?: () => number
  /** Told what is to be read. */
  beforeReading?: (sum: StoredSum) => Promise<void> | undefined
  /** Those of another world: another gateway over the same stores. */
  databaseUrl?: string
}

/** One gateway's stored answers. */
export type StoreWorld = {
  store: StoredResponses
  database: Database
  databaseUrl: string
  redis: Redis
  account(): Promise<string>
  resume(accountId: string, body: JsonObject): Promise<Resumed>
  /** Answers a request with `output`, and returns the id of the answer and what its caller is told in the end. */
  answer(accountId: string, body: JsonObject, output?: JsonObject[]): Promise<{ id: string; told: JsonObject }>
  /** Resolves once the answer is in the history. */
  isWritten(id: string): Promise<unknown>
  /** The ids of an account's answers in the history. */
  rowsOf(accountId: string): Promise<{ id: string }[]>
  /** Drops all copies, as a store does that starts anew. */
  loseCopies(accountId: string): Promise<void>
  stop(): Promise<void>
}

/** Starts one gateway's stored answers. Stop them in `afterAll`. */
export async function startStore(options: Options = {}): Promise<StoreWorld> {
  const databaseUrl = options.databaseUrl ?? (await freshDatabase())
  const database = connectDatabase(databaseUrl, { maxConnections: 4 })
  const redis = new Redis(await redisUrl())
  const copies: CopyStore = {
    set: (name, value, ttlSeconds) => redis.set(name, value, 'EX', ttlSeconds),
    get: (name) => redis.get(name),
    delete: (name) => redis.del(name),
    isCrowded: () => false,
  }
  const clock = { now: options.now ?? (() => Date.now()), monotonic: () => performance.now() }
  const { maxHours = 720, maxBytes = 1_000_000_000 } = options
  const store = createStoredResponses({
    ...{ database, clock, logger: memoryLogger(), maxHours, maxBytes },
    copies: options.copies?.(copies) ?? copies,
  })
  store.start()
  const { beforeReading = () => undefined } = options
  const keptItems = FORMATS.get('responses')?.keptItems
  assert(keptItems, 'the format keeps answers')
  const resume = (accountId: string, body: JsonObject) =>
    store.resume({ accountId, keyId: 'key_1', body, bytes: JSON.stringify(body).length, keptItems, beforeReading })
  return {
    ...{ store, database, databaseUrl, redis, resume },
    async account() {
      const id = randomId('acct')
      await database.sql`INSERT INTO accounts (id, name, email) VALUES (${id}, 'Test', ${`${id}@example.test`})`
      return id
    },
    async answer(accountId, body, output = [text('An answer')]) {
      const { keep, echo } = await resume(accountId, { model: 'svc/alpha', ...body })
      const id = randomId('resp')
      const response = { id, object: 'response', status: 'completed', output, ...echo }
      const lastWords = lastWordsOf(response)
      return { id, told: responseOf((await keep?.(lastWords, 'complete')) ?? lastWords) }
    },
    isWritten: (id) =>
      until(async () => (await database.sql`SELECT FROM stored_responses WHERE id = ${id}`).length === 1, 'the row'),
    rowsOf: async (accountId) => [
      ...(await database.sql<{ id: string }[]>`SELECT id FROM stored_responses WHERE account_id = ${accountId}`),
    ],
    async loseCopies(accountId) {
      const names = await redis.keys(`resp:${accountId}:*`)
      if (names.length > 0) await redis.del(...names)
    },
    async stop() {
      await store.stop()
      await database.close()
      redis.disconnect()
    },
  }
}

/** How a stream ends, behind some more of it. */
export function lastWordsOf(response: JsonObject): string {
  const done = { type: 'response.output_item.done', sequence_number: 7 }
  const completed = { type: 'response.completed', sequence_number: 8, response }
  const frame = (event: JsonObject) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  return frame(done) + frame(completed)
}

/** The answer in the last words of a stream. */
export function responseOf(lastWords: string): JsonObject {
  const data = lastWords.trimEnd().split('\ndata: ').at(-1) ?? ''
  const event = parseJson(data)
  return isJsonObject(event) && isJsonObject(event.response) ? event.response : {}
}

/** A message of the model. */
export function text(words: string, id = randomId('msg')): JsonObject {
  const content = [{ type: 'output_text', text: words, annotations: [] }]
  return { type: 'message', id, role: 'assistant', status: 'completed', content }
}

/** What the items say, in order: their texts, or what they are. */
export function said(items: JsonValue | undefined): unknown[] {
  return (Array.isArray(items) ? items.filter(isJsonObject) : []).map((item) => {
    const { content } = item
    const [part] = Array.isArray(content) ? content : [content]
    return isJsonObject(part) ? part.text : (part ?? item.type)
  })
}

/** How `work` was refused. Throws if it was not. */
export async function refusal(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof GatewayError)) throw new Error('there is no refusal', { cause: error })
  const { code, param } = error.options
  return { status: error.status, ...(code && { code }), ...(param && { param }), message: error.message }
}
