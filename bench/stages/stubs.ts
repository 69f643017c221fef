/** What stands in for the servers behind a stage: an upstream that answers at once, and a ledger that says yes to everything. */
import type { AppDeps } from '@/app'
import { createHoldKeeper } from '@/gateway/hold/hold-keeper'
import { createSettler } from '@/gateway/hold/settler'
import type { Ledger } from '@/ledger/ledger'
import type { Recording } from './recording'

/** Something that is in place only while a stage is measured. */
export type Stub = { begin(): void; end(): void }

/** While it is in place, every call to a provider is answered with `answerText` without leaving the process. */
export function stubUpstream(answerText: string): Stub {
  const real = globalThis.fetch
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(answerText)) }
  const stub = Object.assign(async () => new Response(answerText, { headers }), { preconnect: real.preconnect })
  return {
    begin() {
      globalThis.fetch = stub
    },
    end() {
      globalThis.fetch = real
    },
  }
}

/** The same gateway on a ledger that answers at once what the real one answered. */
export function stubLedger(deps: AppDeps, { reserved, settled }: Recording): AppDeps {
  return onLedger(deps, {
    ...deps.ledger,
    reserve: async () => reserved,
    settle: async () => settled,
    release: async () => 'released',
    renew: async (renewals) => renewals.map(() => 'renewed'),
  })
}

/** The same gateway on another ledger. */
export function onLedger(deps: AppDeps, ledger: Ledger): AppDeps {
  const { logger, metrics, clock, holdTtlMs } = deps
  const keeper = createHoldKeeper(ledger, clock, logger, holdTtlMs, metrics)
  return { ...deps, ledger, keeper, settler: createSettler(ledger, clock, logger, metrics) }
}
