/** How many search units and tokens it takes to rank documents: at most, and by an estimate. */
import { estimateTextTokens } from './estimate'

/** `searchUnits`, and the input tokens of the query, which a provider reads again with each document. */
export type RankingSize = Readonly<Record<'searchUnits' | 'queryTokens', { most: number; likely: number }>>

/** Cohere's unit: one query with this many documents. */
const DOCUMENTS_PER_UNIT = 100
/** A longer document, with the query, is several documents. */
const TOKENS_PER_DOCUMENT = 500
/** The least part of these tokens that a long query leaves to the document. */
const LEAST_ROOM_TOKENS = 100
/** Tokens that providers may add to each pair of query and document. */
const PAIR_OVERHEAD_TOKENS = 8

/** The size of ranking `texts`. At most, each byte is a token. Linear. */
export function rankingSize(query: string, texts: readonly string[]): RankingSize {
  const bytes = Buffer.byteLength(query)
  const tokens = estimateTextTokens(query)
  const most = unitsOf(
    bytes,
    texts.map((text) => Buffer.byteLength(text)),
  )
  const likely = Math.min(
    unitsOf(
      tokens,
      texts.map((text) => estimateTextTokens(text)),
    ),
    most,
  )
  return {
    searchUnits: { most, likely },
    queryTokens: { most: texts.length * (bytes + PAIR_OVERHEAD_TOKENS), likely: texts.length * tokens },
  }
}

function unitsOf(queryTokens: number, documents: readonly number[]): number {
  const room = Math.max(LEAST_ROOM_TOKENS, TOKENS_PER_DOCUMENT - queryTokens)
  const parts = documents.reduce((sum, tokens) => sum + Math.max(1, Math.ceil(tokens / room)), 0)
  return Math.ceil(parts / DOCUMENTS_PER_UNIT)
}
