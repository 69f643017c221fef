import { SCRIPTS } from '@/ledger/scripts/scripts'
import { deadlinesName, parseName } from '@/ledger/store/names'
import { integerOf, listOf, wordOf } from '@/ledger/store/reply'
import type { ScriptRunner } from '@/ledger/store/script-runner'
import { assert } from '@/lib/assert'

type StoredHold = {
  nowMs: number
  /** Empty, like `payer`, if the hold doesn't exist. */
  state: string
  payer: string
  amount: number
  cost: number
  /** Milliseconds until a resolved hold is deleted; negative while open. */
  leftMs: number
  /** Milliseconds since 1970, or empty. */
  deadline: string
}

/** Shows one hold as stored in Redis; its deadline only if `member` is in the shard's deadlines. */
export async function viewHold(runner: ScriptRunner, name: string, member = ''): Promise<StoredHold> {
  const parsed = parseName(name)
  assert(parsed?.kind === 'hold', 'no name of a hold')
  const view = listOf(await runner.run(SCRIPTS.viewHold, [name, deadlinesName(parsed.shard)], [member]))
  return {
    nowMs: integerOf(view[0]),
    state: wordOf(view[1]),
    payer: wordOf(view[2]),
    amount: integerOf(view[3]),
    cost: integerOf(view[4]),
    leftMs: integerOf(view[5]),
    deadline: wordOf(view[6]),
  }
}
