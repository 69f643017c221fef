/** Which models an API key may call, and how a caller is told that it may not. */
import type { Model, Tier } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { Unmet } from './requirements'

/** Ids of the models that a key may call; null = every model. A tier may be called where one of its candidates may. */
export type AllowedModelIds = readonly string[] | null

/** Why a tier passes over a candidate that the key may not call. */
export const NOT_ALLOWED: Unmet = {
  requirement: 'permission',
  isFirm: true,
  detail: 'is not allowed for this API key',
}

/** Whether the key may call `model`. */
export function isAllowed(allowed: AllowedModelIds, model: Model): boolean {
  return allowed === null || allowed.includes(model.id)
}

/** Throws `forbidden` with the code `model_not_allowed`, blaming the field `param`, where the key may not call what it names. */
export function checkAllowed(allowed: AllowedModelIds, named: Model | Tier, param: string): void {
  if (allowed !== null) checkListed(allowed, named, param)
}

function checkListed(allowed: readonly string[], named: Model | Tier, param: string): void {
  const isTier = 'candidates' in named
  const models = isTier ? named.candidates : [named]
  if (models.some((model) => isAllowed(allowed, model))) return
  const message = isTier
    ? `This API key may not call any of the models that '${named.id}' chooses from.`
    : `This API key may not call the model '${named.id}'.`
  const hint = 'The models of a key are changed in the dashboard, under API keys.'
  throw new GatewayError('forbidden', `${message} ${hint}`, { param, code: 'model_not_allowed' })
}
