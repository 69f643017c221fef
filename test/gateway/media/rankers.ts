/** Providers and models that rank documents, for tests: the longer a document, the more relevant it is. */
import type { CatalogFile } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'

/** Prices of the test catalogue in nano-USD. */
export const NANO_PER_SEARCH_UNIT = 2_000_000
export const NANO_PER_TOKEN = 1_000

/** Adds a spare provider, and models that rank: by search unit, by token, and by either at two providers. */
export function sellRerank(file: CatalogFile): void {
  file.providers.spare = { ...file.providers.provider1, keys: ['spare-secret-canary'] }
  const common = { kind: 'rerank', created: 1_760_000_000, ownedBy: 'provider1', contextLength: 4_096 }
  const byUnit = { lines: [{ billable: 'request', unit: 'search_unit', usd: 0.002 }] }
  const target = (provider: string) => ({ provider, model: `${provider}-ranker` })
  const one = [target('provider1')]
  file.models.push(
    { ...common, id: 'svc/rerank', name: 'Rerank', pricing: byUnit, targets: one },
    { ...common, id: 'svc/rerank-tokens', name: 'Rerank tokens', pricing: { inputPer1mTokens: 1 }, targets: one },
    { ...common, id: 'svc/rerank-two', name: 'Rerank two', pricing: byUnit, targets: [...one, target('spare')] },
  )
}

/** The documents of a call, the longest first. */
export function rankedOf({ body }: UpstreamCall): { index: number; relevance_score: number }[] {
  const documents = body.documents as string[]
  return documents
    .map((text, index) => ({ index, relevance_score: text.length / 1_000 }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
}

/** What Cohere answers, in both versions. */
export function answerCohere(call: UpstreamCall, searchUnits = 1): Response {
  const meta = { api_version: { version: '2' }, billed_units: { search_units: searchUnits } }
  return Response.json({ id: 'cohere-1', results: rankedOf(call), meta })
}

/** What Jina answers. */
export function answerJina(call: UpstreamCall, tokens = 40): Response {
  const usage = { total_tokens: tokens, prompt_tokens: tokens }
  return Response.json({ model: call.body.model, object: 'list', usage, results: rankedOf(call) })
}

/** What Voyage AI answers. */
export function answerVoyage(call: UpstreamCall, tokens = 40): Response {
  return Response.json({
    object: 'list',
    data: rankedOf(call),
    model: call.body.model,
    usage: { total_tokens: tokens },
  })
}
