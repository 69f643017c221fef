/**
 * Stored answers, which later requests continue by id. Earlier answers are read before a request is decoded. Its answer is stored before
 * the caller gets its end, so that the next request finds it at once. An answer is first copied to Redis, and written to Postgres in the
 * background. A large answer, or one without room in Redis, is written to Postgres at once. The account decides how long answers are kept.
 */
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Database } from '@/db/client'
import type { Clock } from '@/lib/clock'
import { type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { arrayOf, asWritten, withChanges } from '@/lib/json-source/as-written'
import type { Logger } from '@/lib/logger'
import type { BackgroundWorker } from '@/lib/worker-loop'
import { createAllowance } from './allowance'
import {
  type BeforeReading,
  findStored,
  fromHistory,
  itemsOf,
  readChain,
  resolveReferences,
  unknownPrevious,
  unknownResponse,
} from './conversation'
import { COPY_SECONDS, type CopyStore, createCopies } from './copies'
import { createExpiryWorker } from './expiry'
import { type FinalAnswer, readFinalAnswer } from './final-answer'
import { type InputPage, type PageRequest, readInputPage } from './input-page'
import { MAX_STORED_BYTES, MAX_STORED_RESPONSES } from './limits'
import { deleteRow, deleteRowsOf, readTotal, type StoredTotal, shortenLives } from './rows'
import {
  type ChainSum,
  countValues,
  type NewResponse,
  outputItems,
  ownItems,
  referenceOf,
  type StoredResponse,
  withIds,
} from './stored-items'
import { createWriter } from './writer'

type Arrived = {
  accountId: string
  keyId: string
  body: JsonObject
  bytes: number
  keptItems(items: readonly JsonObject[]): JsonObject[] | undefined
  beforeReading: BeforeReading
}

/** A request together with the earlier answers and items that it refers to. */
export type Resumed = {
  /** The body with the earlier conversation before its own input, as if the caller had sent all of it. */
  body: JsonObject
  echo: JsonObject
  bytes: number
  /** Missing items that were omitted, as text for a header. */
  leftOut: readonly string[]
  /** Stores the answer once its last bytes are known, unless it was cut. Returns the last bytes to send. Never rejects. */
  keep: ((lastWords: string, ending: 'complete' | 'cut') => Promise<string>) | undefined
}

export interface StoredResponses extends BackgroundWorker {
  /** Reads the stored answers and items that a request refers to. Throws a GatewayError if one is missing. */
  resume(arrived: Arrived): Promise<Resumed>
  /** The sent answer. Throws `not_found`, also if another account owns it. */
  find(accountId: string, id: string): Promise<string>
  /** A page of the input of the answer's request, after the earlier conversation. Throws `not_found` like {@link find}. */
  findInput(accountId: string, id: string, page: PageRequest): Promise<InputPage>
  delete(accountId: string, id: string): Promise<string[]>
  /** How long the account's answers are kept in hours (0 = not at all), and how many it has stored. `maxHours` is the operator's limit. */
  standing(accountId: string): Promise<StoredTotal & { hours: number; maxHours: number }>
  /** Applies the account's new choice (null = as long as possible), also to existing answers. */
  keepFor(accountId: string, hours: number | null): Promise<void>
}

export const STORED_RESPONSE_EVENTS = ['stored', 'not_stored', 'continued', 'read', 'missing', 'deleted'] as const
export type StoredResponseEvent = (typeof STORED_RESPONSE_EVENTS)[number]

type Options = {
  database: Database
  copies: CopyStore
  clock: Clock
  logger: Logger
  maxHours: number
  /** Maximum size of all answers of one account. */
  maxBytes: number
  onEvent?: (event: StoredResponseEvent) => void
}

/** A request's own input, and the size of the conversation before it. */
type Input = { items: readonly JsonValue[]; before: ChainSum }

/** The conversation before a request's own input. */
type Chain = { links: readonly StoredResponse[]; sum: ChainSum }

const NOTHING: Chain = { links: [], sum: { links: 0, bytes: 0, values: 0 } }
const MS_PER_HOUR = 3_600_000
const NOT_STORED: JsonObject = { store: false }

/** Creates the stored answers of one process. A stop writes the answers still waiting to Postgres. */
export function createStoredResponses(options: Options): StoredResponses {
  const { database, clock, logger, maxHours, onEvent = () => undefined } = options
  const copies = createCopies(options.copies, clock.now, logger)
  const limits = { kept: MAX_STORED_RESPONSES, bytes: options.maxBytes }
  const writer = createWriter({ database, copies, limits, logger })
  const expiry = createExpiryWorker(database, logger)
  const allowance = createAllowance(database, maxHours, clock.monotonic)
  const deps = { database, copies }

  async function put(stored: NewResponse): Promise<boolean> {
    if (!copies.hasRoom(stored) || !writer.hasRoom(stored) || !(await copies.put(stored))) {
      return await writer.writeNow(stored)
    }
    writer.push(stored)
    return true
  }

  function keeperOf(arrived: Arrived, { items, before }: Input, hours: number) {
    const { keptItems } = arrived
    return async (lastWords: string, ending: 'complete' | 'cut'): Promise<string> => {
      const final = readFinalAnswer(lastWords)
      if (!final) return lastWords
      if (ending === 'cut') {
        onEvent('not_stored')
        return final.unstored()
      }
      const own = keptItems(withIds(items))
      if (!own) {
        onEvent('not_stored')
        return final.unstored()
      }
      const stored = newResponse(arrived, own, final, { createdMs: clock.now(), hours, before })
      const isStored = stored.bytes <= MAX_STORED_BYTES && (await put(stored))
      onEvent(isStored ? 'stored' : 'not_stored')
      return isStored ? lastWords : final.unstored()
    }
  }

  async function existing(accountId: string, id: string): Promise<StoredResponse> {
    const hours = await allowance.hoursOf(accountId)
    const stored = hours === 0 ? undefined : await findStored(deps, accountId, id)
    // Postgres uses its own clock, which may be behind.
    if (!stored || stored.expiresMs <= clock.now()) {
      onEvent('missing')
      throw unknownResponse(id)
    }
    return stored
  }

  return {
    async resume(arrived) {
      const { accountId, body, bytes } = arrived
      const own = ownItems(body.input)
      const previous = body.previous_response_id ?? undefined
      const isPlain = previous === undefined && !own?.some((item) => referenceOf(item) !== undefined)
      // The format's decoder will report the error.
      if (!own || (isPlain && body.store === false))
        return { body, echo: NOT_STORED, bytes, leftOut: [], keep: undefined }
      const hours = await hoursOrNone(allowance.hoursOf(accountId), isPlain)
      const { links, sum } = previous === undefined ? NOTHING : await readPrevious(arrived, previous, hours)
      const terms = { isStoring: hours > 0, chain: sum, beforeReading: arrived.beforeReading }
      const { items, bytes: namedBytes, isShortened } = await resolveReferences(deps, accountId, own, terms)
      const isStored = hours > 0 && body.store !== false && bytes + namedBytes <= MAX_STORED_BYTES
      const input = isPlain ? undefined : arrayOf([...(await itemsOf(links)), ...items])
      return {
        body: input ? withChanges(body, { previous_response_id: undefined, input }) : body,
        echo: { store: isStored, previous_response_id: previous ?? null },
        bytes: bytes + namedBytes + sum.bytes,
        leftOut: isShortened ? ['input.item_reference'] : [],
        keep: isStored ? keeperOf(arrived, { items, before: sum }, hours) : undefined,
      }
    },
    async find(accountId, id) {
      const { answer } = await existing(accountId, id)
      onEvent('read')
      return answer
    },
    async findInput(accountId, id, page) {
      const hours = await allowance.hoursOf(accountId)
      const found = hours === 0 ? undefined : await readInputPage(deps, accountId, id, page)
      if (!found) {
        onEvent('missing')
        throw unknownResponse(id)
      }
      onEvent('read')
      return found
    },
    async delete(accountId, id) {
      const stored = await existing(accountId, id)
      await copies.bury(accountId, id)
      await fromHistory(deleteRow(database, accountId, id))
      onEvent('deleted')
      return outputItems(stored).flatMap(({ call_id: callId }) => (typeof callId === 'string' ? [callId] : []))
    },
    async standing(accountId) {
      const [total, hours] = await Promise.all([readTotal(database, accountId), allowance.hoursOf(accountId)])
      return { ...total, hours, maxHours }
    },
    async keepFor(accountId, hours) {
      allowance.changed(accountId)
      if (hours === 0) await deleteAll(accountId)
      else if (hours !== null) await shortenLives(database, accountId, hours)
    },
    start() {
      writer.start()
      expiry.start()
    },
    async stop() {
      await Promise.all([writer.stop(), expiry.stop()])
    },
  }

  async function readPrevious({ accountId, beforeReading }: Arrived, id: JsonValue, hours: number): Promise<Chain> {
    if (typeof id !== 'string') {
      throw invalidRequest('previous_response_id: expected the id of a response.', 'previous_response_id')
    }
    if (hours === 0) throw storageDisabled()
    const { links, missingId, sum } = await readChain(deps, accountId, id, beforeReading)
    onEvent(missingId === undefined ? 'continued' : 'missing')
    if (missingId !== undefined) throw unknownPrevious(missingId)
    return { links, sum }
  }

  async function deleteAll(accountId: string): Promise<void> {
    await copies.buryAll(accountId, clock.now())
    const deleted = await deleteRowsOf(database, accountId)
    const recent = deleted.filter(({ createdMs }) => createdMs > clock.now() - COPY_SECONDS * 1000)
    await Promise.all(recent.map(({ id }) => copies.bury(accountId, id)))
  }
}

/** The row of an answer with its request's `own` items. */
function newResponse(
  { accountId, keyId, body }: Arrived,
  own: readonly JsonObject[],
  final: FinalAnswer,
  { createdMs, hours, before }: { createdMs: number; hours: number; before: ChainSum },
): NewResponse {
  const { model, previous_response_id: parentId } = body
  const texts = own.map((item) => JSON.stringify(item))
  const input = `[${texts.join(',')}]`
  return {
    accountId,
    keyId,
    id: final.id,
    input,
    answer: final.text,
    bytes: Buffer.byteLength(input) + Buffer.byteLength(final.text),
    createdMs,
    before,
    tokens: final.inputTokens,
    jsonValues: countValues(input) + countValues(final.text),
    items: [...own.map(sizeIn(texts)), ...final.output.map(sizeOf)],
    inputItems: own.length,
    outputItems: final.output.length,
    parentId: typeof parentId === 'string' ? parentId : null,
    model: typeof model === 'string' ? model : '',
    expiresMs: createdMs + hours * MS_PER_HOUR,
  }
}

const sizeIn = (texts: readonly string[]) => (item: JsonObject, index: number) => ({
  id: textOf(item.id) ?? '',
  bytes: Buffer.byteLength(texts[index] ?? ''),
})

const sizeOf = (item: JsonObject) => ({
  id: textOf(item.id) ?? '',
  bytes: Buffer.byteLength(JSON.stringify(asWritten(item))),
})

/** The account's hours; 0 if they can't be read and the request continues no answer: its answer is then sent, but not stored. */
async function hoursOrNone(asking: Promise<number>, isPlain: boolean): Promise<number> {
  try {
    return await asking
  } catch (cause) {
    if (isPlain) return 0
    throw new GatewayError('overloaded', 'Stored responses cannot be read at the moment. Try again.', {
      retryAfterSeconds: 2,
      cause,
    })
  }
}

function storageDisabled(): GatewayError {
  const message = 'Responses of this account are not stored. Send the whole conversation as `input`.'
  return new GatewayError('invalid_request', message, { param: 'previous_response_id', code: 'storage_disabled' })
}
