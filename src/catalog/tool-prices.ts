/** Prices of the tools that run at a provider, as the catalogue file states them: by the use, or by the request that uses them. */
import { FORMATS } from '@/formats/index'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'
import type { FaultList } from './check'
import type { ToolPricesFile } from './schema'
import type { Provider, ToolPrice, ToolPrices } from './types'

/** The prices of one list. Adds a fault for a tool that no format has, and for a price that is no whole number of nano-USD. */
export function readToolPrices(file: ToolPricesFile | undefined, place: string, faults: FaultList): ToolPrices {
  const prices = new Map<string, ToolPrice>()
  for (const [name, entry] of Object.entries(file ?? {})) {
    const at = `${place}.${name}`
    if (!KNOWN.has(name)) faults.add(at, `is no tool of any format; expected one of ${[...KNOWN].join(', ')}`)
    const stated = typeof entry === 'number' ? { usd: entry } : entry
    const { usd, costUsd, per = 'use', ...limits } = stated
    const cost = costUsd === undefined ? {} : { cost: toNano(costUsd, at, faults) }
    prices.set(name, { price: toNano(usd, at, faults), ...cost, per, ...limits })
  }
  return prices
}

/** Those of the prices that mean something at `provider`: its format has the tool. Undefined where there are none. */
export function pricesAt(provider: Provider, prices: ToolPrices): ToolPrices | undefined {
  const own = FORMATS.get(provider.format)?.serverTools ?? []
  const meant = [...prices].filter(([name]) => own.includes(name))
  return meant.length > 0 ? new Map(meant) : undefined
}

const KNOWN: ReadonlySet<string> = new Set([...FORMATS.values()].flatMap(({ serverTools }) => serverTools))

function toNano(usd: number, place: string, faults: FaultList): Nano {
  const amount = Math.round(usd * NANO_PER_USD)
  if (Math.abs(amount / NANO_PER_USD - usd) > usd * 1e-12) faults.add(place, 'is finer than 0.000000001 USD')
  return nano(amount)
}
