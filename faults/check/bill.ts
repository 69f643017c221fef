/** I6: the provider's own bill against our charges, request by request. */
import type { BilledRequest } from '@faults/world/bill'
import { INPUT_NANO, OUTPUT_NANO } from '@faults/world/catalog-file'
import { type Sighting, wordCount } from '@faults/world/client'
import type { Breach, Charge, Evidence } from './evidence'

/** A gateway that dies has recorded nothing yet of a request younger than this, on a machine that is busy with the fault itself. */
const UNRECORDED_MS = 2_500
/** … and nothing of what an older one delivered since its last renewal. */
const RENEWAL_MS = 3_500
/** What may be under way between provider and gateway when one of them hangs up. */
const DEFAULT_TOKENS_UNDER_WAY = 12

/** Compares every request that was billed with what was charged for it, and finds charges that nobody was billed for. */
export function checkBill(evidence: Evidence): Breach[] {
  const { world, startedAtMs, sightings, charges } = evidence
  const accounts = new Set(evidence.accountIds)
  const byHold = Map.groupBy(charges, ({ holdId }) => holdId)
  const billed = new Map(
    [...world.upstream.bill.requests(startedAtMs)].filter(([marker]) => accounts.has(accountOf(evidence, marker))),
  )
  const breaches = [...refusedButCalled(evidence), ...chargedTwice(evidence)]
  for (const { marker, requestId } of sightings) {
    const request = billed.get(marker)
    const own = requestId === undefined ? undefined : byHold.get(requestId)
    if (requestId === undefined) continue
    byHold.delete(requestId)
    billed.delete(marker)
    const sighting = sightings.find((one) => one.marker === marker)
    breaches.push(...compare(evidence, marker, request, own ?? [], sighting))
  }
  return [...breaches, ...matchAnonymous(evidence, billed, byHold)]
}

function accountOf({ sightings }: Evidence, marker: string): string {
  return sightings.find((sighting) => sighting.marker === marker)?.accountId ?? ''
}

/** Nobody's request reaches a provider without a hold: who was refused by us was never sent on. */
function refusedButCalled({ world, sightings }: Evidence): Breach[] {
  const called = new Set(world.upstream.calls.map(({ marker }) => marker))
  const isOurs = ({ status, code }: Sighting) => [401, 402, 403, 429].includes(status) || code === 'ledger_unavailable'
  return sightings
    .filter((sighting) => isOurs(sighting) && called.has(sighting.marker))
    .map(({ marker, status }): Breach => ({ invariant: 'I6', detail: `${marker} was refused (${status}) and called` }))
}

/** However often a request is sent again under its idempotency key, one of the times is charged. */
function chargedTwice({ sightings, charges }: Evidence): Breach[] {
  const costly = new Set(charges.filter(({ cost }) => cost > 0).map(({ holdId }) => holdId))
  return [...Map.groupBy(sightings, ({ marker }) => marker)].flatMap(([marker, own]): Breach[] => {
    const paid = new Set(own.flatMap(({ requestId = '' }) => (costly.has(requestId) ? [requestId] : [])))
    return paid.size > 1 ? [{ invariant: 'I6', detail: `${marker} was charged as ${[...paid].join(' and ')}` }] : []
  })
}

/** Requests whose id the client never learned: within one account they came one after another, as did their charges. */
function matchAnonymous(
  evidence: Evidence,
  billed: ReadonlyMap<string, BilledRequest>,
  byHold: ReadonlyMap<string, Charge[]>,
): Breach[] {
  const breaches: Breach[] = []
  const bills = Map.groupBy(billed.values(), ({ marker }) => accountOf(evidence, marker))
  const charges = Map.groupBy(byHold.values(), ([charge]) => charge?.accountId ?? '')
  for (const accountId of evidence.accountIds) {
    const left = [...(charges.get(accountId) ?? [])].sort((a, b) => timeOf(a) - timeOf(b))
    const requests = [...(bills.get(accountId) ?? [])].sort((a, b) => a.firstAtMs - b.firstAtMs)
    for (const request of requests) {
      // A request reaches the provider at once or not at all; what is charged in its place has begun close to it.
      const isClose = (own: Charge[]) => Math.abs(timeOf(own) - request.firstAtMs) < MATCH_WINDOW_MS
      // Where an account has one of each, nothing can be mixed up, however busy the machine was in between.
      const index = left.findIndex((own) => isClose(own) || (requests.length === 1 && left.length === 1))
      const own = index === -1 ? [] : (left.splice(index, 1)[0] ?? [])
      const sighting = evidence.sightings.find(({ marker }) => marker === request.marker)
      breaches.push(...compare(evidence, request.marker, request, own, sighting))
    }
    for (const own of left) {
      if (totalOf(own) > 0 && !evidence.tolerance.waived?.has(own[0]?.holdId ?? ''))
        breaches.push({ invariant: 'I6', detail: `${own[0]?.holdId} is charged, and nobody billed it` })
    }
  }
  return breaches
}

const MATCH_WINDOW_MS = 1_000

function timeOf(own: readonly Charge[]): number {
  return own[0]?.startedAtMs ?? 0
}

function totalOf(own: readonly Charge[]): number {
  return own.reduce((sum, { cost }) => sum + cost, 0)
}

function compare(
  { tolerance }: Evidence,
  marker: string,
  request: BilledRequest | undefined,
  own: readonly Charge[],
  sighting: Sighting | undefined,
): Breach[] {
  const charged = totalOf(own)
  const bill = request ? request.input * INPUT_NANO + request.output * OUTPUT_NANO : 0
  const saw = sighting
    ? `the client saw ${sighting.ending} (${sighting.status}) as ${sighting.requestId}`
    : 'nobody asked'
  const say = (detail: string): Breach[] => [
    { invariant: 'I6', detail: `${marker}: billed ${bill}, charged ${charged}: ${detail}; ${saw}` },
  ]
  if (!request) return charged > 0 ? say('nobody billed it') : []
  if (tolerance.waived?.has(marker)) return []
  const killedAtMs = tolerance.killedAtMs?.find((at) => at >= request.firstAtMs) ?? 0
  const ageMs = killedAtMs - request.firstAtMs
  // An answer is settled before its client sees the end: a whole one is charged, whatever died then.
  const isBroken = sighting?.ending !== 'complete'
  const isOrphan = killedAtMs > 0 && isBroken && (own.length === 0 || own.some(({ rule }) => rule === 'expired'))
  const lostMs = tolerance.recordsLostMs ?? 0
  if (isOrphan && ageMs < UNRECORDED_MS + lostMs) return []
  const [last] = own.slice(-1)
  if (!last) return say('never charged')
  const isExact = last.rule === 'usage' && !last.flags.includes('clamped')
  if (isExact && charged !== bill) return say('the usage was known')
  const underWay = isOrphan
    ? tokensSince(request, killedAtMs - RENEWAL_MS - lostMs)
    : (tolerance.tokensUnderWay ?? DEFAULT_TOKENS_UNDER_WAY)
  const isCut = last.rule !== 'usage' && last.rule !== 'counted'
  if (charged < bill - (isCut ? underWay * OUTPUT_NANO : 0)) return say(`too little by the rule ${last.rule}`)
  const delivered = wordCount(sighting?.text ?? '') * OUTPUT_NANO
  if (!isOrphan && charged < delivered) return say('less than was delivered')
  return []
}

function tokensSince({ outputs }: BilledRequest, sinceMs: number): number {
  return outputs.filter(({ atMs }) => atMs >= sinceMs).reduce((sum, { tokens }) => sum + tokens, 0)
}
