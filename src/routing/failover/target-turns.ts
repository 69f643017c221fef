import { lotOf } from '@/routing/health/key-choice'
import type { Conversation } from '@/routing/health/key-pool'
import { targetId } from '@/routing/health/target-id'
import type { Plan, PlannedTarget } from '@/routing/plan/plan'

/** Orders a model's weighted targets: at random, but always alike for a conversation, whose first target has cached the prompts. */
export function inTurn(
  { targets, isWished }: Pick<Plan, 'targets' | 'isWished'>,
  random: () => number,
  conversation?: Conversation,
): readonly PlannedTarget[] {
  const hasLots = !isWished && targets.length > 1 && targets.some(({ target }) => target.weight !== undefined)
  return hasLots ? drawn(targets, random, conversation) : targets
}

function drawn(
  targets: readonly PlannedTarget[],
  random: () => number,
  conversation?: Conversation,
): readonly PlannedTarget[] {
  const name = conversation?.()
  const waits = new Map(
    targets.map((planned) => {
      const { target } = planned
      const lot = name === undefined ? 1 - random() : lotOf(name, targetId(target))
      return [planned, -Math.log(lot) / (target.weight ?? 1)] as const
    }),
  )
  const waitOf = (planned: PlannedTarget) => waits.get(planned) ?? 0
  return runsOf(targets).flatMap((run) => run.toSorted((one, other) => waitOf(one) - waitOf(other)))
}

/** Groups neighbouring targets of one model that have weights. A target without a weight is a group by itself. */
function runsOf(targets: readonly PlannedTarget[]): PlannedTarget[][] {
  const runs: PlannedTarget[][] = []
  for (const planned of targets) {
    const run = runs.at(-1)
    const [first] = run ?? []
    const isBeside = first?.model === planned.model && first.target.weight !== undefined
    if (run && isBeside && planned.target.weight !== undefined) run.push(planned)
    else runs.push([planned])
  }
  return runs
}
