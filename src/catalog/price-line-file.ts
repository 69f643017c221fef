/** Reads the price lines of a catalogue file. A line for text tokens may replace the field of the input or output price. */
import { type Billable, isPerMillion, UNITS_OF, type Unit } from '@/chat/units'
import { type Pico, priceToPico, unitPriceToPico } from '@/lib/money'
import type { FaultList } from './check'
import type { UnitPrice } from './types'

export type LineFile = { billable: Billable; unit: Unit; variant?: string; usd: number; costUsd?: number }

/** The lines for other units than text tokens, and the prices of text tokens. */
export type ReadLines = { lines: UnitPrice[]; input?: Pico; output?: Pico }

/** Parses `file`, a list's lines below `place`; `usdOf` is the stated amount, undefined if there is none. Adds a fault for each mistake. */
export function readLines(
  file: readonly LineFile[] = [],
  usdOf: (line: LineFile) => number | undefined,
  place: string,
  faults: FaultList,
): ReadLines {
  const read: ReadLines = { lines: [] }
  const seen = new Set<string>()
  for (const [index, line] of file.entries()) {
    const at = `${place}.lines[${index}]`
    checkLine(line, at, seen, faults)
    const usd = usdOf(line)
    if (usd === undefined) continue
    const price = priceOf(line, usd, at, faults)
    const { billable, unit, variant } = line
    if (!isShortForm(line)) read.lines.push({ billable, unit, ...(variant !== undefined && { variant }), price })
    else if (billable === 'input_text') read.input = price
    else read.output = price
  }
  return read
}

/** Whether the line states the price of text tokens. */
export function isShortForm({ billable, unit }: Pick<LineFile, 'billable' | 'unit'>): boolean {
  return unit === 'token' && (billable === 'input_text' || billable === 'output_text')
}

/** The line's subject in words, such as `output_image per image (hd)`. */
export function unitName({ billable, unit, variant }: Omit<UnitPrice, 'price'>): string {
  return `${billable} per ${unit}${variant === undefined ? '' : ` (${variant})`}`
}

function checkLine(line: LineFile, at: string, seen: Set<string>, faults: FaultList): void {
  const { billable, unit, variant } = line
  const units = UNITS_OF[billable]
  if (!units.includes(unit) && !faults.has(`${at}.unit`))
    faults.add(`${at}.unit`, `expected one of ${units.join(', ')} for ${billable}`)
  if (variant !== undefined && (unit === 'token' || unit === 'request') && !faults.has(`${at}.variant`))
    faults.add(`${at}.variant`, 'is only for images, seconds, characters and search units')
  const name = unitName(line)
  if (seen.has(name) && !faults.has(at)) faults.add(at, `${name} is listed twice`)
  seen.add(name)
}

function priceOf({ unit }: LineFile, usd: number, at: string, faults: FaultList): Pico {
  const price = isPerMillion(unit) ? priceToPico(usd) : unitPriceToPico(usd)
  if (price === undefined && !faults.has(at)) {
    const finest = isPerMillion(unit) ? '0.000001 USD per 1,000,000' : '0.000000000001 USD, or above 1,000 USD'
    faults.add(at, `has a price finer than ${finest}`)
  }
  return price ?? (0 as Pico)
}
