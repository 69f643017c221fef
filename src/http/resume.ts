/** Inserts earlier answers that a request refers to by id, before the request is decoded. */
import { findSold } from '@/catalog/aliases'
import type { Catalog } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import { namedModel } from '@/formats/routing-words'
import type { Payer } from '@/ledger/outcomes'
import type { JsonObject, JsonValue } from '@/lib/json'
import { costNano, type Nano, type Pico, ZERO_NANO } from '@/lib/money'
import type { StoredSum } from '@/stored-responses/stored-items'
import type { Resumed, StoredResponses } from '@/stored-responses/stored-responses'
import type { HttpDeps } from './deps'
import type { Share } from './share/share'

type Arrived = { format: Format; payer: Payer; body: JsonObject; bytes: number; share: Share }

/** The request with the answers it builds on; undefined if its format has no such references. Throws if an answer is missing. */
export function resumeRequest(
  { storedResponses, catalog }: Pick<HttpDeps, 'storedResponses' | 'catalog'>,
  { format, payer, body, bytes, share }: Arrived,
): ReturnType<StoredResponses['resume']> | undefined {
  if (!format.keptItems) return undefined
  const beforeReading = ({ bytes: stored, tokens }: StoredSum) =>
    share.readStored(stored, () => leastCost(catalog.current, namedModel(body), tokens))
  return storedResponses.resume({ ...payer, body, bytes, keptItems: format.keptItems, beforeReading })
}

/** Token counts differ by vocabulary, but hardly by more than a factor of two. */
const LEAST_SHARE = 0.5

/** The minimum cost of sending a conversation of `tokens` to `model` again; zero if unknown. */
function leastCost(catalog: Catalog, model: JsonValue | undefined, tokens: number): Nano {
  const sold = typeof model === 'string' ? findSold(catalog, model) : undefined
  if (!sold || 'candidates' in sold) return ZERO_NANO
  const lists = [sold.pricing, ...(sold.pricing.serviceTiers?.values() ?? [])]
  const cheapest = Math.min(...lists.flatMap(({ base }) => [base.input, base.cacheRead])) as Pico
  return costNano([Math.floor(tokens * LEAST_SHARE)], [cheapest])
}

/** The decoded request with the fields to repeat in its answer. */
export function withEcho(request: ChatRequest, { echo, leftOut }: Resumed): ChatRequest {
  const unlisted = leftOut.length > 0 ? [...(request.unlisted ?? []), ...leftOut] : request.unlisted
  return { ...request, answerEcho: { ...request.answerEcho, ...echo }, ...(unlisted && { unlisted }) }
}
