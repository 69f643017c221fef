/** What the clients of a soak do, and how often: which request, with whose key, and how the answer is treated. */
import type { Shot, WireFormat } from '@bench/load/job'
import { requestBytes } from '@bench/load/request-bytes'
import { gatewayShot } from '@bench/peers/gateway'
import type { Traffic } from '@bench/peers/peer'
import type { Manner } from './client'

/** The keys of a run: most have credit, some have next to none, some are nobody's. */
export type SoakKeys = { rich: readonly string[]; poor: readonly string[]; unknown: readonly string[] }

type Step = { name: string; request: Buffer; manner: Manner; expected: readonly number[] | 'any' }
type Kind = { name: string; weight: number; make(random: Random): Draft }
type Draft = {
  manner: Manner
  traffic: Partial<Traffic>
  /** A model of the soak's own catalogue instead of the traffic's. */
  model?: string
  keys?: keyof SoakKeys
  expected?: readonly number[] | 'any'
}

interface Random {
  pick<T>(choices: readonly T[]): T
  /** From `least` to below `most`. */
  between(least: number, most: number): number
}

const KIB = 1024
const FORMATS: readonly WireFormat[] = ['chat-completions', 'messages', 'generate-content']
/** Answered well, at three speeds; the last is what a slow provider does. */
export const GOOD_MODELS = ['json', 'stream-20-20', 'stream-100-50', 'stream-20-700', 'flood-2000', 'flood-8000']
const STREAMS = ['stream-20-20', 'stream-20-20', 'stream-100-50', 'stream-20-700']
/** Each is a model of its own at a provider that is given up soon. */
export const FAULTY_MODELS = ['status-503', 'status-429', 'status-500', 'reset', 'silent', 'broken-5-20']
/** Public id of a faulty model, and of one whose first target fails and whose second does not. */
export const faultyId = (model: string): string => `svc/faulty-${model}`
export const RESCUED_ID = 'svc/rescued'

const READ: Manner = { kind: 'read' }
/** Only who is spoken to in his own format is sent all that the provider sends. */
const floodOf = (random: Random, model: string): Partial<Traffic> => {
  const format = random.pick(FORMATS)
  return { client: format, provider: format, model, stream: true }
}

const KINDS: readonly Kind[] = [
  { name: 'JSON', weight: 26, make: () => ({ manner: READ, traffic: {} }) },
  {
    ...{ name: 'streams', weight: 26 },
    make: (random) => ({ manner: READ, traffic: { model: random.pick(STREAMS), stream: true } }),
  },
  {
    ...{ name: 'hang-ups', weight: 14 },
    make: (random) => ({
      manner: {
        ...{ kind: 'leave', afterMs: random.between(0, 4_000) },
        how: random.pick(['close', 'reset', 'half-close'] as const),
      },
      traffic: { model: 'stream-100-50', stream: true },
      expected: 'any',
    }),
  },
  {
    ...{ name: 'hang-ups before JSON', weight: 2 },
    make: (random) => ({
      manner: { kind: 'leave', afterMs: random.between(0, 10), how: random.pick(['close', 'reset'] as const) },
      traffic: {},
      expected: 'any',
    }),
  },
  {
    ...{ name: 'slow readers', weight: 4 },
    make: (random) => ({
      manner: { kind: 'dawdle', restMs: random.between(20, 120) },
      traffic: floodOf(random, 'flood-2000'),
      expected: 'any',
    }),
  },
  {
    ...{ name: 'stopped readers', weight: 2 },
    make: (random) => ({
      manner: { kind: 'stop', restMs: random.between(5_000, 30_000), how: random.pick(['read', 'reset'] as const) },
      traffic: floodOf(random, 'flood-8000'),
      expected: 'any',
    }),
  },
  {
    ...{ name: 'unfinished requests', weight: 3 },
    make: (random) => ({
      manner: { kind: 'unfinished', bytes: random.between(1, 900), restMs: random.between(1_000, 20_000) },
      traffic: {},
      expected: 'any',
    }),
  },
  {
    ...{ name: 'failing providers', weight: 10 },
    make: (random) => ({
      ...{ manner: READ, traffic: { stream: random.pick([true, false]) }, expected: 'any' },
      model: faultyId(random.pick(FAULTY_MODELS)),
    }),
  },
  { name: 'rescued by a fallback', weight: 4, make: () => ({ manner: READ, traffic: {}, model: RESCUED_ID }) },
  { name: 'no credit', weight: 3, make: () => ({ manner: READ, traffic: {}, keys: 'poor', expected: [402] }) },
  { name: 'unknown keys', weight: 3, make: () => ({ manner: READ, traffic: {}, keys: 'unknown', expected: [401] }) },
  {
    ...{ name: 'large prompts', weight: 3 },
    make: (random) => ({ manner: READ, traffic: { promptBytes: random.pick([100, 100, 100, 1024]) * KIB } }),
  },
]

/** Chooses what the next client does. */
export function nextStep(port: number, keys: SoakKeys): Step {
  return stepOf(drawKind(), port, keys)
}

/** One of the streams that a burst is made of. */
export function burstStep(port: number, keys: SoakKeys): Step {
  const draft: Draft = { manner: READ, traffic: { model: 'stream-20-20', stream: true } }
  return stepOf({ name: 'bursts', weight: 0, make: () => draft }, port, keys)
}

function stepOf({ name, make }: Kind, port: number, keys: SoakKeys): Step {
  const { manner, traffic, model, keys: whose = 'rich', expected = [200] } = make(RANDOM)
  const whole: Traffic = {
    ...{ client: RANDOM.pick(FORMATS), provider: RANDOM.pick(FORMATS), model: 'json', stream: false },
    ...{ promptBytes: KIB, ...traffic },
  }
  const shot: Shot = gatewayShot(whole, port, [RANDOM.pick(keys[whose])], model)
  const [request] = requestBytes(shot)
  return { name, request: request as Buffer, manner, expected }
}

function drawKind(): Kind {
  let place = Math.random() * KINDS.reduce((sum, { weight }) => sum + weight, 0)
  for (const kind of KINDS) {
    place -= kind.weight
    if (place < 0) return kind
  }
  return KINDS[0] as Kind
}

const RANDOM: Random = {
  pick: (choices) => choices[Math.floor(Math.random() * choices.length)] as (typeof choices)[number],
  between: (least, most) => Math.floor(least + Math.random() * (most - least)),
}
