/** Tells a caller why no model can serve the request: which requirement ruled out which model. */
import { takesTools } from '@/catalog/tool-allowance'
import type { Catalog, Model } from '@/catalog/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import type { PassedOver } from './requirements'

/** Models named in full in one message; a tier may have many. */
const MAX_NAMED = 8

/** The 400 for a request that every model was passed over for; `boundField` is the first of those that not every format can carry. */
export function noneCanServe(passedOver: readonly PassedOver[], boundField?: string): GatewayError {
  const details = Object.fromEntries(
    passedOver
      .slice(0, MAX_NAMED)
      .map(({ model, unmet }) => [model.id, unmet.map((item) => item.requirement).join(', ')]),
  )
  const reasons = passedOver
    .slice(0, MAX_NAMED)
    .map(({ model, unmet }) => `${model.id} ${unmet.map((item) => item.detail).join(' and ')}`)
  const more = passedOver.length > MAX_NAMED ? `; and ${passedOver.length - MAX_NAMED} more` : ''
  const message = `No model can serve this request: ${reasons.join('; ')}${more}.`
  // Clients shorten a conversation by themselves when they are told that it is too long, so they are told just that.
  // What the key may not call would not have served them either way.
  const isOnlyLength = passedOver.every(({ unmet }) =>
    unmet.every(({ requirement }) => requirement === 'context-length' || requirement === 'permission'),
  )
  if (isOnlyLength) return new GatewayError('context_length_exceeded', message, { param: 'messages', details })
  // The fields that are to blame where each model was passed over for them.
  const blamable = [
    ['max-price', 'svc.max_price'],
    ['providers', 'svc.providers'],
    ['lossless', boundField],
  ] as const
  const blamed = blamable.find(([requirement]) =>
    passedOver.every(({ unmet }) => unmet.some((item) => item.requirement === requirement)),
  )
  const param = blamed?.[1] ?? 'model'
  return new GatewayError('invalid_request', message, { param, code: 'no_capable_model', details })
}

/** Throws the 400 for a tool that runs at providers and that none of the models asked for takes; it says which models do. */
export function refuseUntakenTools(
  catalog: Catalog,
  request: ChatRequest,
  format: FormatName | undefined,
  passedOver: readonly PassedOver[],
): void {
  const serverTools = request.serverTools?.filter(({ isOptional }) => !isOptional) ?? []
  const [first] = serverTools
  const takes = (model: Model, tools: readonly ServerTool[]) =>
    model.targets.some((target) => target.provider.format === format && takesTools(target, tools))
  if (!first || passedOver.some(({ model }) => takes(model, serverTools))) return
  const untaken = serverTools.find((tool) => !passedOver.some(({ model }) => takes(model, [tool]))) ?? first
  const takers = [...catalog.models.values()].filter((model) => takes(model, [untaken])).map(({ id }) => id)
  const others =
    takers.length > 0 ? `Models that take it: ${takers.slice(0, MAX_NAMED).join(', ')}` : 'No model takes it'
  const { field, kind } = untaken
  const what = field === kind ? field : `${field} (${kind})`
  throw invalidRequest(`${what}: no price covers it here, or the model speaks another format. ${others}.`, field)
}
