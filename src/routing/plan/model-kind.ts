/** Sees to it that a conversation is asked of a model that answers, and vectors of one that embeds; says where else to ask. */
import type { Catalog, Model, ModelKind, Tier } from '@/catalog/types'
import { GatewayError } from '@/chat/error'

const EMBEDDING_PATHS = 'POST /v1/embeddings, or models/{model}:embedContent and :batchEmbedContents'
/** Models named in one message. */
const MAX_NAMED = 8

/** Throws `invalid_request` with the code `wrong_endpoint`, blaming the field `param`, where what is named is of the other kind. */
export function checkKind(catalog: Catalog, named: Model | Tier, kind: ModelKind, param: string): void {
  const own: ModelKind = 'candidates' in named ? 'chat' : named.kind
  if (own === kind) return
  const message =
    own === 'embedding'
      ? `'${named.id}' embeds texts and answers no conversation. Ask it at ${EMBEDDING_PATHS}.`
      : `'${named.id}' answers conversations and embeds nothing: ask it where those are answered. ${embedders(catalog)}`
  throw new GatewayError('invalid_request', message, { param, code: 'wrong_endpoint' })
}

function embedders({ models }: Catalog): string {
  const ids = [...models.values()].flatMap(({ id, kind }) => (kind === 'embedding' ? [id] : []))
  return ids.length === 0 ? 'No model embeds here.' : `Models that embed: ${ids.slice(0, MAX_NAMED).join(', ')}.`
}
