/** Counts besides the five token classes: units such as images and seconds, and tokens that have their own price. */

export const BILLABLES = [
  'input_text',
  'input_image',
  'input_audio',
  'output_text',
  'output_image',
  'output_audio',
  'request',
] as const
export type Billable = (typeof BILLABLES)[number]

export const UNITS = ['token', 'image', 'second', 'character', 'search_unit', 'request'] as const
export type Unit = (typeof UNITS)[number]

/** The units in which each billable can be counted. `request` in the unit `request` is a fee per answered request. */
export const UNITS_OF: Readonly<Record<Billable, readonly Unit[]>> = {
  input_text: ['token', 'character'],
  input_image: ['token', 'image'],
  input_audio: ['token', 'second'],
  output_text: ['token'],
  output_image: ['token', 'image'],
  output_audio: ['token', 'second'],
  request: ['request', 'search_unit'],
}

/** A variant's name, such as `hd`, `1024x1536`, or both, as `hd:1024x1536`. */
export const VARIANT_PATTERN = '^[A-Za-z0-9:][A-Za-z0-9._:-]{0,63}$'

/**
 * A non-negative integer count. Tokens are a part of the uncached input or of the output. Other units are additional. `variant`: a kind
 * with its own price, such as a picture's size and quality.
 */
export type UnitCount = { billable: Billable; unit: Unit; variant?: string; count: number }

/** Whether prices are stated for a million of the unit. */
export function isPerMillion(unit: Unit): boolean {
  return unit === 'token' || unit === 'character'
}

/** Whether the tokens of `billable` belong to the input; if not, they belong to the output. */
export function isInput(billable: Billable): boolean {
  return billable.startsWith('input')
}

/** Whether both counts have the same billable and unit; their variants may differ. */
export function isSameUnit(one: Pick<UnitCount, 'billable' | 'unit'>, other: Pick<UnitCount, 'billable' | 'unit'>) {
  return one.billable === other.billable && one.unit === other.unit
}

/**
 * Token counts of sounds and pictures within `uncached` and `output`, lowered if they exceed these totals. Undefined if there are none, as
 * in most answers.
 */
export function tokenParts(
  uncached: number,
  inputAudio: number,
  inputImage: number,
  output: number,
  outputAudio: number,
  outputImage: number,
): UnitCount[] | undefined {
  if (inputAudio + inputImage + outputAudio + outputImage === 0) return undefined
  const sound = Math.min(inputAudio, uncached)
  const speech = Math.min(outputAudio, output)
  const parts = [
    { billable: 'input_audio', unit: 'token', count: sound },
    { billable: 'input_image', unit: 'token', count: Math.min(inputImage, uncached - sound) },
    { billable: 'output_audio', unit: 'token', count: speech },
    { billable: 'output_image', unit: 'token', count: Math.min(outputImage, output - speech) },
  ] as const
  const counted = parts.filter(({ count }) => count > 0)
  return counted.length > 0 ? counted : undefined
}

/** The tokens of `billable` among `units`. */
export function tokensOf(units: readonly UnitCount[] | undefined, billable: Billable): number {
  let tokens = 0
  for (const one of units ?? NO_UNITS) if (one.billable === billable && one.unit === 'token') tokens += one.count
  return tokens
}

const NO_UNITS: readonly UnitCount[] = []
