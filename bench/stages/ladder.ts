/**
 * The whole gateway in this process under load, first with stubs in place of upstream and ledger, then with one after the other
 * real: what each step adds is its own cost with all that it brings along.
 */

import type { Shot } from '@bench/load/job'
import type { LoadClient } from '@bench/machine/load-client'
import { type AppDeps, buildApp } from '@/app'
import { serve } from '@/boot/serve'
import type { Config } from '@/config/config'
import type { Ledger } from '@/ledger/ledger'
import { addTo, processMicroseconds, type Rounds } from './measure'
import type { Recording } from './recording'
import { onLedger, type Stub, stubLedger, stubUpstream } from './stubs'

/** One step: a server of its own in this process. */
type Step = {
  name: string
  shot: Shot
  unit: 'request' | 'chunk'
  connections: number
  /** In place while the step is under load. */
  stub?: Stub
  stop(): void
}

export const SERVER = 'server: read a body, answer'
export const STUBBED = 'whole, stubs for upstream and ledger'
export const WITH_UPSTREAM = 'whole, a stub for the ledger'
export const WITH_LEDGER = 'whole, its records left where they are'
export const WHOLE = 'whole'
export const WHOLE_ALONE = 'whole, 1 connection'
export const STREAM = 'whole, per piece of 64 streams'

const MANY = 64
const WARM_UP_MS = 2_000
const WINDOW_MS = 1_000
const RAMP_MS = 500
const SETTLE_MS = 400

type LadderInput = {
  config: Config
  deps: AppDeps
  /** One whose records nobody fetches. */
  quietLedger: Ledger
  recording: Recording
  answerText: string
  shot(port: number, stream: boolean): Shot
}

/** Builds every step. */
export function buildSteps({ config, deps, quietLedger, recording, answerText, shot }: LadderInput): Step[] {
  const jsonHeaders = { 'content-type': 'application/json' }
  const plain = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      await request.bytes()
      return new Response(answerText, { headers: jsonHeaders })
    },
  })
  const withoutLedger = serve(config, buildApp(stubLedger(deps, recording)))
  const withoutFlusher = serve(config, buildApp(onLedger(deps, quietLedger)))
  const real = serve(config, buildApp(deps))
  const stop = () => undefined
  const common = { unit: 'request', connections: MANY, stop } as const
  return [
    { ...common, name: SERVER, shot: shot(plain.port ?? 0, false), stop: () => void plain.stop(true) },
    {
      ...{ ...common, name: STUBBED, shot: shot(withoutLedger.port ?? 0, false) },
      stub: stubUpstream(answerText),
    },
    {
      ...common,
      name: WITH_UPSTREAM,
      shot: shot(withoutLedger.port ?? 0, false),
      stop: () => void withoutLedger.stop(true),
    },
    {
      ...{ ...common, name: WITH_LEDGER, shot: shot(withoutFlusher.port ?? 0, false) },
      stop: () => void withoutFlusher.stop(true),
    },
    { ...common, name: WHOLE, shot: shot(real.port ?? 0, false) },
    { ...common, name: WHOLE_ALONE, connections: 1, shot: shot(real.port ?? 0, false) },
    { ...common, name: STREAM, unit: 'chunk', shot: shot(real.port ?? 0, true), stop: () => void real.stop(true) },
  ]
}

/** Puts each step under load for a moment without counting. */
export async function warmUpSteps(client: LoadClient, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await loadStep(client, step, WARM_UP_MS)
}

/** One measurement of every step, each after a moment in which what the one before left behind ends. */
export async function measureSteps(client: LoadClient, steps: readonly Step[], rounds: Rounds): Promise<void> {
  for (const step of steps) {
    await Bun.sleep(SETTLE_MS)
    const before = processMicroseconds()
    const count = await loadStep(client, step, WINDOW_MS)
    addTo(rounds, step.name, (processMicroseconds() - before) / Math.max(1, count))
  }
}

async function loadStep(client: LoadClient, step: Step, durationMs: number): Promise<number> {
  const { shot, connections, unit } = step
  step.stub?.begin()
  try {
    const rampMs = unit === 'chunk' ? RAMP_MS : 0
    const result = await client.run({ kind: 'closed', shot, connections, durationMs, rampMs })
    return unit === 'chunk' ? result.chunks : result.answered
  } finally {
    step.stub?.end()
  }
}
