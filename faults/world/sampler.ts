/** Looks at balances ten times a second while a fault is on: a moment below zero counts, even if it is over at the end. */
import { readStored } from '@test/ledger/store/stored'
import type { RedisClient } from '@/ledger/store/connection'
import { accountName } from '@/ledger/store/names'

export interface Sampler {
  watch(accountId: string): void
  /** What was seen that must not be, since the start. */
  violations(): string[]
  samples(): number
  stop(): Promise<void>
}

const INTERVAL_MS = 100

/** Starts sampling. A store that does not answer gives no sample. */
export function startSampler(redis: RedisClient): Sampler {
  const accounts = new Set<string>()
  const violations = new Set<string>()
  let samples = 0
  let isStopping = false

  async function sample(): Promise<void> {
    const ids = [...accounts]
    const rows = await Promise.all(
      ids.map((id) => readStored(redis, 'account', accountName(id)).catch(() => undefined)),
    )
    for (const [index, account] of rows.entries()) {
      if (!account) continue
      const { available, overrun } = account
      samples++
      // What was charged beyond a hold is counted, and is the only way below zero.
      if (Number(available) + Number(overrun) < 0) violations.add(`${ids[index]} had ${available} available`)
    }
  }

  const loop = (async () => {
    while (!isStopping) {
      await sample().catch(() => undefined)
      await Bun.sleep(INTERVAL_MS)
    }
  })()
  return {
    watch: (accountId) => accounts.add(accountId),
    violations: () => [...violations],
    samples: () => samples,
    async stop() {
      isStopping = true
      await loop
    },
  }
}
