/** Series that start at zero before their first event, so that alerts see the first increase. They depend on the catalogue. */
import type { Catalog, Model } from '@/catalog/types'
import { type ErrorKind, GatewayError, STATUS_OF_KIND } from '@/chat/error'
import { FORMATS } from '@/formats/index'
import { ENDINGS, type Ending } from '@/ledger/charge'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import { FAULT_CLASSES } from '@/routing/failover/fault-class'

/** The label for requests without a model, with an unknown model, or without a provider. */
export const NO_MODEL = 'none'
export const UNKNOWN_MODEL = 'unknown'
export const NO_PROVIDER = 'none'

/** Beyond this many lanes or pairs of models, series start with their first event, so that huge catalogues don't make scrapes too large. */
const MAX_LANES = 1_000
const MAX_PAIRS = 300

/** A lane: one combination of client format, model and provider. */
export type LaneNames = { format: string; model: string; provider: string }

/** The lanes of refused and of answered requests. */
export function bornLanes(catalog: Catalog): LaneNames[] {
  const lanes: LaneNames[] = []
  for (const [format, { embeddings }] of FORMATS) {
    const sold = [...catalog.models.values()].filter(({ kind }) => kind === 'chat' || embeddings !== undefined)
    const refusable = [NO_MODEL, UNKNOWN_MODEL, ...sold.map(({ id }) => id), ...catalog.tiers.keys()]
    lanes.push(...refusable.map((model) => ({ format, model, provider: NO_PROVIDER })))
    for (const model of sold)
      for (const provider of providersOf(model)) lanes.push({ format, model: model.id, provider })
  }
  return lanes.slice(0, MAX_LANES)
}

/** Each model with each of its providers. */
export function bornTargets(catalog: Catalog): Omit<LaneNames, 'format'>[] {
  const targets = [...catalog.models.values()].flatMap((model) =>
    [...providersOf(model)].map((provider) => ({ model: model.id, provider })),
  )
  return targets.slice(0, MAX_LANES)
}

/** The providers that offer models. */
export function bornProviders(catalog: Catalog): Set<string> {
  return new Set([...catalog.models.values()].flatMap((model) => [...providersOf(model)]))
}

/** Pairs of models for fallbacks that the catalogue allows: the abandoned model, then the next. */
export function bornFallbacks({ models, tiers }: Catalog): [from: string, to: string][] {
  const next = new Map<string, Set<string>>()
  const add = (from: string, to: string) => {
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to))
  }
  for (const { id, fallback } of models.values()) for (const to of fallback) add(id, to)
  for (const { candidates } of tiers.values())
    for (const from of candidates) for (const to of candidates) add(from.id, to.id)
  return [...next].flatMap(([from, all]) => [...all].map((to): [string, string] => [from, to])).slice(0, MAX_PAIRS)
}

/** The errors that cause a fallback: all except those of the request itself. */
export const FALLBACK_REASONS = FAULT_CLASSES.filter((fault) => fault !== 'request')

/** The possible endings of requests in a lane. */
export function bornEndings({ format, provider }: LaneNames): readonly (readonly [status: number, ending: Ending])[] {
  return provider === NO_PROVIDER ? (refusals.get(format) ?? []) : ANSWERED
}

const ANSWERED = ENDINGS.filter((ending) => ending !== 'refused').map((ending) => {
  const isGone = ending === 'disconnected' || ending === 'unanswered'
  return [isGone ? CLIENT_CLOSED_STATUS : 200, ending] as const
})

/** The kinds of errors that routes of models can return: never a 405. */
const KINDS = (Object.keys(STATUS_OF_KIND) as ErrorKind[]).filter((kind) => kind !== 'method_not_allowed')

/** The statuses of each format's refusals. */
const refusals = new Map(
  [...FORMATS].map(([name, format]) => {
    const statuses = KINDS.map((kind) => format.encodeError(new GatewayError(kind, ''), '').status)
    return [name as string, [...new Set(statuses)].map((status) => [status, 'refused'] as const)]
  }),
)

function providersOf({ targets }: Model): Set<string> {
  return new Set(targets.map(({ provider }) => provider.name))
}
