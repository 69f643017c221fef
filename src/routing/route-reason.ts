/** Describes in one line why this model answered: for `x-svc-route-reason`, the usage record and the log. */

import type { AttemptNote } from '@/routing/failover/failover-state'
import { difficultyClass, type TierChoice } from '@/routing/plan/choose'
import type { Plan } from '@/routing/plan/plan'

/** One line of printable ASCII. It begins with requested, chosen, session, passed-over or fallback. */
export function routeReason(plan: Plan, answeredBy: string, trail: readonly AttemptNote[]): string {
  const first = plan.models[0]
  const failed = trail.findLast((note) => note.model !== answeredBy)
  if (failed) return clean(`fallback; ${failed.model} ${failed.reason}`)
  if (answeredBy !== first?.id) return clean(`fallback; ${first?.id ?? 'the first choice'} is not available now`)
  if (plan.choice) return clean(describeChoice(plan.choice))
  if (plan.requestedId === answeredBy) return 'requested'
  const [passedOver] = plan.passedOver
  return clean(`passed-over; ${plan.requested} ${passedOver?.unmet.map((item) => item.detail).join(', ') ?? ''}`)
}

/** The failed attempts for a header: `svc/alpha@provider1=503, svc/beta@provider2=first-byte-timeout`. */
export function describeTrail(trail: readonly AttemptNote[]): string {
  return clean(trail.map(({ model, provider, reason }) => `${model}@${provider}=${reason}`).join(', '))
}

function describeChoice({ tier, kind, difficulty, session, isBelowQuality, ranking }: TierChoice): string {
  if (session?.outcome === 'kept') return `session; ${tier.id} keeps the model of this conversation`
  const score = ranking[0]?.score.toFixed(2) ?? '0'
  const moved = session?.outcome === 'too-weak' ? `moved up from ${session.modelId}; ` : ''
  const below = isBelowQuality ? ', below the quality asked for' : ''
  return `chosen; ${moved}${tier.strategy}, ${difficultyClass(difficulty)} ${kind} (${difficulty.toFixed(2)}), score ${score} of ${ranking.length}${below}`
}

function clean(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 500)
}
