/** Plans requests for speech, transcriptions and other answers that are no conversations. */
import { measureInputs } from '@/catalog/embedding-size'
import type { Catalog, MediaKind } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { MediaRequest } from '@/formats/media-call'
import { underRules } from './data-rules'
import { findNamed, type NamedPlan, type NamedPlanOptions, planNamed } from './plan-named'
import { permittedTargets } from './refusal'

export type MediaPlan = NamedPlan

/**
 * Builds the plan of a request that is no conversation: only the named model's targets, since models of other kinds differ in what they
 * make and in their units. Throws like `findNamed` and `planNamed`, and `context_length_exceeded` for too many characters.
 */
export function buildMediaPlan(
  catalog: Catalog,
  kind: MediaKind,
  asked: MediaRequest,
  options: NamedPlanOptions = {},
): MediaPlan {
  const request = underRules(asked, options.dataRules)
  const model = findNamed(catalog, request.model, kind, options)
  const { characters = 0, texts, preferences, model: requested, stream } = request
  if (characters > model.contextLength) {
    const message = `The input has ${characters} characters; ${model.id} speaks at most ${model.contextLength}.`
    throw new GatewayError('context_length_exceeded', message, { param: 'input' })
  }
  const able = permittedTargets(options.allowedProviders, model)
  const sizes = measureInputs(texts.map((text) => ({ type: 'text', text })))
  return planNamed(catalog, { model, able, sizes, preferences, requested, stream }, options)
}
