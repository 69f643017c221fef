import { tokensOf, type UnitCount } from '@/chat/units'
import type { JsonObject } from '@/lib/json'

/** The fields of a usage's details for tokens of sounds and pictures, as chat-completions and responses name them; none without such. */
export function mediaDetails(units: readonly UnitCount[], side: 'input' | 'output'): JsonObject {
  const [audio, image] = [tokensOf(units, `${side}_audio`), tokensOf(units, `${side}_image`)]
  return { ...(audio > 0 && { audio_tokens: audio }), ...(image > 0 && { image_tokens: image }) }
}
