/** What of a caller's protocol a provider of its own format gets, and the fields that are left out with the rest. */
import type { Beta, Protocol } from '@/chat/protocol'
import type { ChatRequest } from '@/chat/request'
import { leftOutFields, UNPRICED_EXTRAS } from './body-fields'
import type { TargetTraits } from './format'

/** In a provider's list of betas: those that it would be asked for if it had no list. */
const USUAL = 'default'
/** In such a list: whatever a caller names. The operator bears what it costs, and what the provider refuses. */
const ANY = '*'

type BetaTraits = Pick<TargetTraits, 'quirks' | 'passFields' | 'betas' | 'toolPrices' | 'takenBeta' | 'refusedBetas'>

/** The provider's headers for it. Those that the catalogue fixes stay; betas there are asked for as well. */
export function protocolHeaders(
  { version, betaHeader, betas }: Protocol,
  traits: BetaTraits,
  fixed: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {}
  if (version && fixed[version.header] === undefined) headers[version.header] = version.value
  const always = fixed[betaHeader]?.split(',').map((name) => name.trim())
  const names = new Set([
    ...(always ?? []),
    ...betas.filter((beta) => isAskedFor(beta, traits)).map((beta) => traits.takenBeta?.(beta) ?? beta.name),
  ])
  if (names.size > 0) headers[betaHeader] = [...names].join(',')
  return headers
}

/** What a target of the caller's own format is not sent: fields of the body, then betas by header and name. */
export function leftOutOfOwn(
  request: Pick<ChatRequest, 'unlisted' | 'hasCacheControl' | 'protocol'>,
  traits: BetaTraits,
): readonly string[] {
  const { protocol } = request
  const fields = leftOutFields(request, traits)
  const untold = protocol?.betas.filter((beta) => !isAskedFor(beta, traits)) ?? []
  if (!protocol || untold.length === 0) return fields
  const kept = new Set(protocol.betas.flatMap((beta) => (untold.includes(beta) ? [] : beta.fields)))
  for (const field of traits.passFields ?? []) kept.add(field)
  const unread = new Set(untold.flatMap((beta) => beta.fields))
  return [...fields, ...unread.difference(kept), ...untold.map(({ name }) => `${protocol.betaHeader}.${name}`)]
}

/** Parts of a request that no body of another format can carry: betas, and earlier actions of a provider's own tools. */
export function untoldElsewhere({
  hostedHistory = [],
  protocol,
}: Pick<ChatRequest, 'hostedHistory' | 'protocol'>): readonly string[] {
  return protocol && protocol.betas.length > 0 ? [...hostedHistory, protocol.betaHeader] : hostedHistory
}

/**
 * The betas of the request that a refusal is about: those that it names, or all where it speaks of betas and names none of them. None where
 * it speaks of something else.
 */
export function betasRefused({ betas }: Protocol, words: string, traits: BetaTraits): string[] {
  const asked = betas.filter((beta) => isAskedFor(beta, traits))
  const named = asked.filter(
    (beta) => words.includes(beta.name) || words.includes(traits.takenBeta?.(beta) ?? beta.name),
  )
  return (named.length === 0 && ABOUT_BETAS.test(words) ? asked : named).map(({ name }) => name)
}

/** Bedrock's words, which name none, and those that name the header. */
const ABOUT_BETAS = /\binvalid beta flag|\banthropic[-_]beta\b/i

/**
 * The catalogue's list decides, by name with or without date. Without a list: betas that the target's prices cover and its
 * cloud takes. A beta that the provider refused is not sent again.
 */
function isAskedFor(beta: Beta, traits: BetaTraits): boolean {
  const { quirks, passFields, betas, toolPrices, takenBeta, refusedBetas } = traits
  if (refusedBetas?.has(beta.name)) return false
  if (betas && (betas.has(beta.name) || betas.has(beta.family) || betas.has(ANY))) return true
  if (betas && !betas.has(USUAL)) return false
  if (takenBeta && takenBeta(beta) === undefined) return false
  const isPaidFor = beta.isFree || (beta.tool !== undefined && toolPrices?.has(beta.tool) === true)
  return isPaidFor || quirks.has(UNPRICED_EXTRAS) || beta.fields.some((field) => passFields?.has(field))
}
