/** Decides which protocol settings of a caller are sent to providers of its format, and lists the omitted ones. */
import type { Beta, Protocol } from '@/chat/protocol'
import type { ChatRequest } from '@/chat/request'
import { leftOutFields, UNPRICED_EXTRAS } from './body-fields'
import type { TargetTraits } from './format'

/** In a provider's list of betas: includes the betas that would be allowed without a list. */
const USUAL = 'default'
/** In a provider's list of betas: allows every beta. The operator bears costs and refusals. */
const ANY = '*'

type BetaTraits = Pick<TargetTraits, 'quirks' | 'passFields' | 'betas' | 'toolPrices' | 'takenBeta' | 'refusedBetas'>

/** The provider's headers for these settings. The catalogue's fixed headers stay; its betas are added. */
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

/** Settings that a target of the caller's format doesn't get: body fields, then betas as header and name. */
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

/** Settings that other formats can't express: betas, and earlier actions of provider-run tools. */
export function untoldElsewhere({
  hostedHistory = [],
  protocol,
}: Pick<ChatRequest, 'hostedHistory' | 'protocol'>): readonly string[] {
  return protocol && protocol.betas.length > 0 ? [...hostedHistory, protocol.betaHeader] : hostedHistory
}

/** The betas that a provider refused: those that its error names, or all if it mentions betas without names. Empty for other errors. */
export function betasRefused({ betas }: Protocol, words: string, traits: BetaTraits): string[] {
  const asked = betas.filter((beta) => isAskedFor(beta, traits))
  const named = asked.filter(
    (beta) => words.includes(beta.name) || words.includes(traits.takenBeta?.(beta) ?? beta.name),
  )
  return (named.length === 0 && ABOUT_BETAS.test(words) ? asked : named).map(({ name }) => name)
}

/** Bedrock's message, which names no beta, and messages that name the header. */
const ABOUT_BETAS = /\binvalid beta flag|\banthropic[-_]beta\b/i

/**
 * Whether a beta is sent. A beta that the provider refused is not sent. A beta that the catalogue lists, with or without date, is sent.
 * Other betas are sent if prices cover them and the cloud supports them.
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
