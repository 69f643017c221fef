/**
 * Circuit breakers, one per target: a target that keeps failing gets no calls for a while, so that requests don't queue up to fail.
 * **Closed**: every call is admitted and counted. It opens if, of at least twenty outcomes in half a minute, half are failures or most are
 * slow. It also opens if twenty outcomes were slow since the last good one. A call that has been silent for too long counts as slow while
 * still pending (`tick`). **Open**: no call is admitted, for five seconds at first and twice as long each time in a row, up to a minute.
 * Outcomes of earlier calls no longer count. If a forced call (made because no other target was left) succeeds, the circuit closes.
 * **Half-open**, after that time: one call, the probe, is admitted. If it succeeds the circuit closes. If it fails or stays silent the
 * circuit opens again. If its client disconnects, the next call is the probe. **Adopted**: another gateway opened its circuit and shared
 * that. Ours is open too, and the other gateway probes. If our own calls succeed, ours is not open: then the fault is between the other
 * gateway and the provider.
 */
import type { Clock } from '@/lib/clock'
import type { IsGone } from './renewal'
import { createSampleWindow, type SampleWindow, type WindowTotals } from './sample-window'

export type CircuitState = 'closed' | 'open' | 'half-open'

export type CallOutcome =
  /** The answer has begun. */
  | 'answered'
  | 'failed'
  /** The target refused the request or the key, so it is alive. */
  | 'refused'
  /** The target was so slow that another one was tried, and that one answered first. */
  | 'outrun'
  /** The client disconnected before the outcome was known. */
  | 'abandoned'

/** One admitted call. The caller must end it once. */
export type CircuitCall = Pick<AdmittedCall, 'isProbe' | 'end'>

export type CircuitStatus = { id: string; state: CircuitState; isAdopted: boolean; totals: WindowTotals }

export interface CircuitBreaker {
  state(id: string): CircuitState
  /** Milliseconds until an open circuit admits a probe; 0 if it is not open. */
  remainingMs(id: string): number
  admits(id: string): boolean
  /** Admits a call, or returns undefined. A forced call is always admitted. Silence longer than `slowAfterMs` counts as slow. */
  enter(id: string, slowAfterMs: number, isForced?: boolean): CircuitCall | undefined
  /** Counts a failure after the answer had begun. */
  noteBroken(id: string): void
  failureRate(id: string): number
  /** Notes that another gateway's circuit is open, for at most `remainingMs`. */
  adopt(id: string, remainingMs: number): void
  /** Closes every adopted circuit that is not in `ids`. */
  closeAdoptedExcept(ids: ReadonlySet<string>): void
  /** Counts silent calls as slow. Call it about once a second. */
  tick(): void
  list(): CircuitStatus[]
  /** Removes the data of missing targets; their running calls no longer count. */
  forget(isGone: IsGone): void
}

type BreakerOptions = {
  clock: Clock
  /** A random number in [0, 1), so that gateways don't probe at the same time. */
  random?: () => number
  /** One of our circuits changed; `forMs` is how long it stays open. Never called for adopted ones. */
  onChange?: (id: string, state: 'open' | 'closed', forMs: number) => void
}

export const MIN_SAMPLES = 20
const FAILURE_SHARE = 0.5
const SLOW_SHARE = 0.8
export const FIRST_OPEN_MS = 5_000
export const MAX_OPEN_MS = 60_000
/** If a circuit was closed for this time, its next opening lasts {@link FIRST_OPEN_MS} again. */
const FORGIVEN_AFTER_MS = 60_000
/** If our own share of failures is below this, another gateway's open circuit is not adopted. */
const HEALTHY_SHARE = 0.25

type Circuit = {
  id: string
  state: CircuitState
  isAdopted: boolean
  openUntilMs: number
  closedSinceMs: number
  /** How many times the circuit opened in a row. */
  openings: number
  /** Increases with every change of state, so that outcomes of earlier calls don't count. */
  generation: number
  probe: AdmittedCall | undefined
  window: SampleWindow
  /** Slow outcomes since the last good one. */
  slowInRow: number
  inFlight: Set<AdmittedCall>
}

/** Creates the breakers of one process, all closed. */
export function createCircuitBreaker(options: BreakerOptions): CircuitBreaker {
  const { clock } = options
  const circuits = new Map<string, Circuit>()

  function circuitOf(id: string): Circuit {
    let circuit = circuits.get(id)
    if (!circuit) {
      circuit = createCircuit(id, clock.monotonic())
      circuits.set(id, circuit)
    }
    if (circuit.state === 'open') lapse(circuit, clock.monotonic())
    return circuit
  }

  return {
    state: (id) => circuitOf(id).state,
    remainingMs(id) {
      const { state, openUntilMs } = circuitOf(id)
      return state === 'open' ? Math.max(0, openUntilMs - clock.monotonic()) : 0
    },
    admits: (id) => isAdmitting(circuitOf(id)),
    enter: (id, slowAfterMs, isForced = false) => enter(circuitOf(id), slowAfterMs, isForced, options),
    noteBroken: (id) => count(circuitOf(id), 'failures', options),
    failureRate: (id) => failureShare(circuitOf(id), clock.monotonic()),
    adopt: (id, remainingMs) => adopt(circuitOf(id), remainingMs, clock.monotonic()),
    closeAdoptedExcept(ids) {
      for (const circuit of circuits.values()) {
        if (circuit.isAdopted && !ids.has(circuit.id)) close(circuit, clock.monotonic())
      }
    },
    tick() {
      for (const circuit of circuits.values()) countSilent(circuit, options)
    },
    list: () =>
      [...circuits.keys()].map((id) => {
        const { state, isAdopted, window } = circuitOf(id)
        return { id, state, isAdopted, totals: window.totals(clock.monotonic()) }
      }),
    forget(isGone) {
      for (const [id, circuit] of circuits) {
        if (!isGone(id)) continue
        change(circuit, 'closed')
        circuits.delete(id)
      }
    },
  }
}

function createCircuit(id: string, nowMs: number): Circuit {
  return {
    id,
    state: 'closed',
    isAdopted: false,
    openUntilMs: 0,
    closedSinceMs: nowMs,
    openings: 0,
    generation: 0,
    probe: undefined,
    window: createSampleWindow(),
    slowInRow: 0,
    inFlight: new Set(),
  }
}

/** Makes an open circuit half-open after its time. */
function lapse(circuit: Circuit, nowMs: number): void {
  if (nowMs < circuit.openUntilMs) return
  circuit.state = 'half-open'
  circuit.isAdopted = false
}

function isAdmitting(circuit: Circuit): boolean {
  return circuit.state === 'closed' || (circuit.state === 'half-open' && !circuit.probe)
}

function enter(circuit: Circuit, slowAfterMs: number, isForced: boolean, options: BreakerOptions) {
  const isAdmitted = isAdmitting(circuit)
  if (!isAdmitted && !isForced) return undefined
  const call = new AdmittedCall(circuit, slowAfterMs, isAdmitted && circuit.state === 'half-open', options)
  if (call.isProbe) circuit.probe = call
  circuit.inFlight.add(call)
  return call
}

class AdmittedCall {
  readonly generation: number
  readonly slowAtMs: number
  isCountedSlow = false

  constructor(
    private readonly circuit: Circuit,
    slowAfterMs: number,
    readonly isProbe: boolean,
    private readonly options: BreakerOptions,
  ) {
    this.generation = circuit.generation
    this.slowAtMs = options.clock.monotonic() + slowAfterMs
  }

  end(outcome: CallOutcome): void {
    const { circuit, options } = this
    if (!circuit.inFlight.delete(this)) return
    if (circuit.probe === this) circuit.probe = undefined
    if (this.generation !== circuit.generation || outcome === 'abandoned') return
    if (circuit.state === 'closed') {
      if (outcome === 'refused') circuit.slowInRow = 0
      else if (outcome === 'failed') count(circuit, 'failures', options)
      else if (!this.isCountedSlow) {
        const nowMs = options.clock.monotonic()
        count(circuit, outcome === 'outrun' || nowMs >= this.slowAtMs ? 'slow' : 'successes', options, nowMs)
      }
    } else if (outcome !== 'failed' && outcome !== 'outrun') settle(circuit, options)
    else if (this.isProbe) open(circuit, options)
  }
}

function count(
  circuit: Circuit,
  outcome: 'successes' | 'failures' | 'slow',
  options: BreakerOptions,
  nowMs = options.clock.monotonic(),
): void {
  if (circuit.state !== 'closed') return
  circuit.window.add(outcome, nowMs)
  if (outcome === 'slow') circuit.slowInRow++
  else if (outcome === 'successes') circuit.slowInRow = 0
  if (outcome === 'successes') return
  const { all, failures, slow } = circuit.window.totals(nowMs)
  // Each silence costs seconds. So the circuit opens even if earlier good outcomes are still in the window.
  const hasGoneSilent = Math.min(slow, circuit.slowInRow) >= MIN_SAMPLES
  const isMostlyBad = all >= MIN_SAMPLES && (failures >= all * FAILURE_SHARE || slow >= all * SLOW_SHARE)
  if (hasGoneSilent || isMostlyBad) open(circuit, options)
}

function open(circuit: Circuit, options: BreakerOptions): void {
  const nowMs = options.clock.monotonic()
  if (circuit.state === 'closed' && nowMs - circuit.closedSinceMs >= FORGIVEN_AFTER_MS) circuit.openings = 0
  circuit.openings++
  const longMs = Math.min(MAX_OPEN_MS, FIRST_OPEN_MS * 2 ** Math.min(circuit.openings - 1, 10))
  const forMs = longMs * (0.9 + 0.2 * (options.random ?? Math.random)())
  change(circuit, 'open')
  circuit.openUntilMs = nowMs + forMs
  options.onChange?.(circuit.id, 'open', forMs)
}

function settle(circuit: Circuit, options: BreakerOptions): void {
  close(circuit, options.clock.monotonic())
  options.onChange?.(circuit.id, 'closed', 0)
}

function close(circuit: Circuit, nowMs: number): void {
  change(circuit, 'closed')
  circuit.closedSinceMs = nowMs
}

function change(circuit: Circuit, state: CircuitState): void {
  circuit.state = state
  circuit.isAdopted = false
  circuit.generation++
  circuit.probe = undefined
  circuit.window.clear()
  circuit.slowInRow = 0
}

function adopt(circuit: Circuit, remainingMs: number, nowMs: number): void {
  if (circuit.state === 'closed') {
    const isProvenHealthy =
      circuit.window.totals(nowMs).all >= MIN_SAMPLES && failureShare(circuit, nowMs) < HEALTHY_SHARE
    if (isProvenHealthy) return
    change(circuit, 'open')
  } else if (circuit.state === 'half-open') change(circuit, 'open')
  circuit.isAdopted = true
  circuit.openUntilMs = nowMs + remainingMs
}

function failureShare(circuit: Circuit, nowMs: number): number {
  if (circuit.state !== 'closed') return 1
  const { all, failures, slow } = circuit.window.totals(nowMs)
  return all === 0 ? 0 : (failures + slow) / Math.max(all, MIN_SAMPLES)
}

function countSilent(circuit: Circuit, options: BreakerOptions): void {
  const nowMs = options.clock.monotonic()
  for (const call of circuit.inFlight) {
    if (call.isCountedSlow || call.generation !== circuit.generation || nowMs < call.slowAtMs) continue
    call.isCountedSlow = true
    if (circuit.probe === call) open(circuit, options)
    else count(circuit, 'slow', options)
  }
}
