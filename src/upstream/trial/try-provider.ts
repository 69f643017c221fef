import { requestCost } from '@/catalog/price'
import type { Catalog, Model, Target } from '@/catalog/types'
import { inputTokens } from '@/chat/usage'
import { type Nano, nano } from '@/lib/money'
import { askTarget } from './ask-target'
import { PROBES, type ProbeName } from './probes'

/** `untried`: the model lacks the capability in the catalogue, or neither text nor stream worked. */
type Verdict = 'works' | 'fails' | 'untried'

export type Trial = Record<ProbeName, Verdict> & {
  model: string
  /** The provider's own name of the model. */
  target: string
  /** Whether the provider reported the usage of each answer. */
  usage: Verdict
  /** Milliseconds until a streamed answer began. */
  firstTokenMs: number | null
  /** The cost of the answers by the catalogue's cost prices; null if it has none. */
  cost: Nano | null
  /** The failed tests with their reasons. */
  faults: { of: ProbeName | 'usage'; why: string }[]
}

const AT_ONCE = 4

/** Tests all chat models of a provider for an operator: which features work, speed and cost. Undefined if the provider doesn't exist. */
export async function tryProvider(catalog: Catalog, name: string): Promise<Trial[] | undefined> {
  if (!catalog.providers.has(name)) return undefined
  const waiting = [...catalog.models.values()].flatMap((model) =>
    model.kind === 'chat'
      ? model.targets.filter(({ provider }) => provider.name === name).map((target) => ({ model, target }))
      : [],
  )
  const trials: Trial[] = []
  const left = [...waiting.entries()]
  async function work(): Promise<void> {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, { model, target }] = next
      trials[index] = await tryTarget(model, target)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return trials
}

/** Tests one target. Requests are sent one after another, so that they fit into the limits of a small account. */
async function tryTarget(model: Model, target: Target): Promise<Trial> {
  const untried = {
    text: 'untried',
    stream: 'untried',
    tools: 'untried',
    images: 'untried',
    schema: 'untried',
  } as const
  const trial: Trial = {
    model: model.id,
    target: target.model,
    ...untried,
    usage: 'untried',
    firstTokenMs: null,
    cost: null,
    faults: [],
  }
  for (const probe of PROBES) {
    if (probe.needs && !model.capabilities.has(probe.needs)) continue
    // If neither a whole answer nor a stream works, the other tests would fail too.
    if (probe.needs && trial.text === 'fails' && trial.stream === 'fails') break
    const answer = await askTarget(model, target, probe)
    const why = answer.kind === 'failed' ? answer.why : probe.fault(answer.response)
    trial[probe.name] = why === undefined ? 'works' : 'fails'
    if (why !== undefined) trial.faults.push({ of: probe.name, why })
    if (answer.kind === 'answered') note(trial, target, answer, probe.name)
  }
  return trial
}

function note(
  trial: Trial,
  { cost }: Target,
  { response, firstTokenMs }: Extract<Awaited<ReturnType<typeof askTarget>>, { kind: 'answered' }>,
  of: ProbeName,
): void {
  const { usage } = response
  trial.firstTokenMs ??= firstTokenMs === undefined ? null : Math.round(firstTokenMs)
  if (!usage || inputTokens(usage) === 0 || usage.output === 0) {
    trial.usage = 'fails'
    trial.faults.push({ of: 'usage', why: `not reported in the answer to ${of}` })
    return
  }
  if (trial.usage === 'untried') trial.usage = 'works'
  if (cost) trial.cost = nano((trial.cost ?? 0) + requestCost(cost, usage))
}
