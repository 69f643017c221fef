/** Dialects of clouds that offer Claude with its vendor's own API. Only the supported betas differ. */
import { betaNamesOf, type Cloud } from './betas'
import type { DialectKind, DialectName } from './dialect'

export const bedrockMantle: DialectKind = kindOf('bedrock-mantle', 'mantle')

export const foundry: DialectKind = kindOf('foundry', 'foundry')

function kindOf(name: DialectName, cloud: Cloud): DialectKind {
  return {
    formats: ['messages'],
    needsVersion: false,
    create: (_, endpoint) => ({ ...endpoint, name, takenBeta: betaNamesOf(cloud) }),
  }
}
