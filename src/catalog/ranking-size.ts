/** Computes the search units and tokens for ranking documents: the maximum and an estimate. */
import { estimateTextTokens } from './estimate'

/** `searchUnits`, and `queryTokens`: the query's input tokens, since a provider reads the query again with each document. */
export type RankingSize = Readonly<Record<'searchUnits' | 'queryTokens', { most: number; likely: number }>>

/** Cohere's unit: one query with this many documents. */
const DOCUMENTS_PER_UNIT = 100
/** Maximum tokens of a document with the query. Cohere counts a longer one as several documents. */
const TOKENS_PER_DOCUMENT = 500
/** The document gets at least this many of TOKENS_PER_DOCUMENT, even if the query is long. */
const LEAST_ROOM_TOKENS = 100
/** Tokens that providers may add to each pair of query and document. */
const PAIR_OVERHEAD_TOKENS = 8

/** The size of a request that ranks `texts` by `query`. The maximum counts one token per byte. Linear. */
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
