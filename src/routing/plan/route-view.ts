/** The current health as planning sees it: read-only and in memory, so that a plan stays a pure function. */
import type { Target } from '@/catalog/types'

export interface RouteView {
  /** Whether a call would be admitted now: by the breaker, and with an unpaused key. */
  isUsable(target: Target): boolean
  /** Recent share of failed calls, 0 to 1. */
  failureRate(target: Target): number
  /** Usual milliseconds until an answer begins; undefined if unknown. */
  latencyMs(target: Target, stream: boolean): number | undefined
  /** Usual tokens per second of its answers; undefined if unknown. */
  throughput(target: Target): number | undefined
}

/** A view without data: all targets count as usable. */
export const BLIND_VIEW: RouteView = {
  isUsable: () => true,
  failureRate: () => 0,
  latencyMs: () => undefined,
  throughput: () => undefined,
}
