import { tokensOf, type UnitCount } from '@/chat/units'
import type { JsonObject } from '@/lib/json'

/** The counts of audio and image tokens for the usage details of chat-completions and responses; zero counts are omitted. */
export function mediaDetails(units: readonly UnitCount[], side: 'input' | 'output'): JsonObject {
  const [audio, image] = [tokensOf(units, `${side}_audio`), tokensOf(units, `${side}_image`)]
  return { ...(audio > 0 && { audio_tokens: audio }), ...(image > 0 && { image_tokens: image }) }
}
