/** Clouds that serve Claude as its vendor publishes it, but for the beta interfaces that they take. */
import { betaNamesOf, type Cloud } from './betas'
import type { DialectKind, DialectName } from './dialect'

/** Bedrock's own `/anthropic`. */
export const bedrockMantle: DialectKind = kindOf('bedrock-mantle', 'mantle')

/** Claude at Microsoft Foundry. */
export const foundry: DialectKind = kindOf('foundry', 'foundry')

function kindOf(name: DialectName, cloud: Cloud): DialectKind {
  return {
    formats: ['messages'],
    needsVersion: false,
    create: (_, endpoint) => ({ ...endpoint, name, takenBeta: betaNamesOf(cloud) }),
  }
}
