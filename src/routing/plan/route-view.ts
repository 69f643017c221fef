/** What planning may know of the state of the world: read-only, answered from memory, so that a plan stays a pure function. */
import type { Target } from '@/catalog/types'

export interface RouteView {
  /** Whether a call would be let through now: the breaker admits it, and some key is neither cooling nor out. */
  isUsable(target: Target): boolean
  /** Share of failed calls lately, 0 to 1. */
  failureRate(target: Target): number
  /** Usual milliseconds until an answer begins, or undefined while unknown. */
  latencyMs(target: Target, stream: boolean): number | undefined
  /** Usual tokens a second of its answers, or undefined while unknown. */
  throughput(target: Target): number | undefined
}

/** Knows nothing: everything is usable. */
export const BLIND_VIEW: RouteView = {
  isUsable: () => true,
  failureRate: () => 0,
  latencyMs: () => undefined,
  throughput: () => undefined,
}
