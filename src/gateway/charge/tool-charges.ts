/** What the uses of tools cost that ran at the provider: price times uses, from what the tokens leave of the hold. */
import type { ToolPrice } from '@/catalog/types'
import type { ToolUses } from '@/chat/server-tools'
import type { Charge } from '@/ledger/charge'
import type { ToolCharge } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'

/** A tool that was offered, at the price of the target that answers. */
export type ToolTerms = Pick<ToolPrice, 'price' | 'cost' | 'per'> & {
  name: string
  /** Uses that are charged where the answer does not say how many there were. */
  unsaidUses: number
}

/**
 * The charge with what the tools cost. Uses beyond those that were reckoned with are paid from what is left of the hold, and are
 * not charged where nothing is left: then the charge is flagged `clamped`.
 */
export function chargeTools(
  charge: Charge,
  terms: readonly ToolTerms[],
  uses: ToolUses | undefined,
  held: Nano,
): Charge {
  if (charge.kind === 'free') return charge
  const tools: ToolCharge[] = []
  let cost: number = charge.cost
  let isClamped = false
  for (const { name, price, per, unsaidUses } of terms) {
    const wanted = billable(per, uses?.[name] ?? unsaidUses)
    const payable = price === 0 ? wanted : Math.min(wanted, Math.max(0, Math.floor((held - cost) / price)))
    if (payable < wanted) isClamped = true
    if (payable === 0) continue
    cost += payable * price
    tools.push({ name, uses: payable, cost: nano(payable * price) })
  }
  const flags = isClamped ? [...new Set([...charge.flags, 'clamped' as const])] : charge.flags
  return { ...charge, cost: nano(cost), flags, ...(tools.length > 0 && { tools }) }
}

/**
 * What the provider asks of us for the tools of an answer that is charged as `charge`: of all uses that it told, paid for or not.
 * Undefined where one was used whose cost nobody has stated.
 */
export function costOfTools(
  terms: readonly ToolTerms[],
  uses: ToolUses | undefined,
  charge: Charge,
): number | undefined {
  const charged = charge.kind === 'charge' ? charge.tools : undefined
  let sum = 0
  for (const { name, cost, per } of terms) {
    const used = uses?.[name] ?? charged?.find((tool) => tool.name === name)?.uses ?? 0
    if (used === 0) continue
    if (cost === undefined) return undefined
    sum += billable(per, used) * cost
  }
  return sum
}

function billable(per: ToolTerms['per'], uses: number): number {
  return per === 'request' ? Math.min(uses, 1) : uses
}
