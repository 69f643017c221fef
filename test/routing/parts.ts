/** Everything a failover needs, with clock, randomness and pauses in the test's hands, and every event remembered. */

import { type Failover, startFailover } from '@/routing/failover/failover'
import type { RoutingParts } from '@/routing/failover/permit'
import { createRetryBudget } from '@/routing/failover/retry-budget'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import { createBackoffWindows } from '@/routing/health/backoff-windows'
import { createCircuitBreaker } from '@/routing/health/circuit-breaker'
import { createConcurrencyLimiter } from '@/routing/health/concurrency'
import { createKeyCalls } from '@/routing/health/key-calls'
import { createKeyPool } from '@/routing/health/key-pool'
import { createLatencies } from '@/routing/health/latency'
import { createThroughputs } from '@/routing/health/throughput'
import type { Plan } from '@/routing/plan/plan'
import { type ManualClock, manualClock } from './world'

export type TestParts = RoutingParts & {
  clock: ManualClock
  events: RoutingEvent[]
  /** The pauses that were asked for, in milliseconds. The clock moves by each. */
  pauses: number[]
  onPause: () => void
  begin(plan: Plan, signal: AbortSignal, stream?: boolean, accountId?: string): Failover
}

/** Creates the parts. Keys are drawn in order. */
export function createTestParts(): TestParts {
  const clock = manualClock()
  const events: RoutingEvent[] = []
  const notify = (event: RoutingEvent) => void events.push(event)
  const parts: TestParts = {
    clock,
    random: () => 0,
    breaker: createCircuitBreaker({ clock, random: () => 0.5 }),
    keys: createKeyPool({
      clock,
      random: () => 0,
      onOut: (provider, key, status) => notify({ type: 'key-out', provider: provider.name, key: key.id, status }),
    }),
    calls: createKeyCalls(),
    backoffs: createBackoffWindows(clock),
    trials: new Set(),
    limiter: createConcurrencyLimiter(),
    latency: createLatencies(clock),
    throughput: createThroughputs(clock),
    budget: createRetryBudget(clock),
    notify,
    events,
    pauses: [],
    onPause: () => undefined,
    async pause(milliseconds) {
      parts.pauses.push(milliseconds)
      clock.advance(milliseconds)
      parts.onPause()
    },
    begin: (plan, signal, stream = false, accountId = 'acc_1') =>
      startFailover(parts, plan, { accountId, stream, signal }),
  }
  return parts
}
