/** Requests for pictures and their answers, independent of formats. */
import type { JsonObject } from '@/lib/json'
import type { UnitCount } from './units'
import { type Usage, ZERO_USAGE } from './usage'

/** How the caller wants a picture: as base64, or as an address. */
type PicturePacking = 'b64_json' | 'url'

export type PictureRequest = {
  /** Whether pictures are made from a text alone, or from other pictures. */
  operation: 'generation' | 'edit'
  prompt: string
  count: number
  /** The requested size, such as `1024x1536`; undefined if the provider chooses. */
  size?: string
  /** The requested quality; undefined if the provider chooses. */
  quality?: string
  /** The pictures to change. */
  images: readonly File[]
  /** Transparent where the first picture may change. */
  mask?: File
  packing?: PicturePacking
  stream: boolean
  /** The caller's own fields, without files. */
  fields: JsonObject
  /** Fields that are not sent, unless the catalogue allows them. */
  unlisted: string[]
}

/** Size and quality of pictures, as far as they are known. */
export type PictureLook = { size?: string | undefined; quality?: string | undefined }

/** The variant of a price line: `quality:size`, with an empty part if it is unknown; undefined if both are. */
function variantOf({ size, quality }: PictureLook): string | undefined {
  const [known, dimensions] = [wordOf(quality), wordOf(size)]
  return known === '' && dimensions === '' ? undefined : `${known}:${dimensions}`
}

const WORD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$/

/** A provider's word, if it can be a part of a variant; else an empty text. */
function wordOf(text = ''): string {
  return WORD.test(text) ? text : ''
}

/** `count` pictures as a unit of a usage. */
export function picturesAsUnit(count: number, look: PictureLook): UnitCount {
  const variant = variantOf(look)
  return { billable: 'output_image', unit: 'image', count, ...(variant !== undefined && { variant }) }
}

/** The usage of `count` finished pictures. `tokens`: as the provider states them; null: estimated. */
export function pictureUsage(count: number, look: PictureLook, tokens: Usage | null): Usage {
  const stated = tokens ?? estimatedTokens(count, look)
  return { ...stated, units: [...(stated.units ?? []), picturesAsUnit(count, look)] }
}

/** Output tokens of a picture of 1024 × 1024, by quality: the published counts of the most used models. */
const TOKENS_OF_QUALITY: ReadonlyMap<string, number> = new Map([
  ['low', 272],
  ['medium', 1_056],
  ['high', 4_160],
])
/** The usual output tokens of one picture. */
export const USUAL_PICTURE_TOKENS = 1_056
const USUAL_PIXELS = 1_024 * 1_024

/** The output tokens that pictures are likely to have, at a provider that states none. */
function estimatedTokens(count: number, { size, quality = '' }: PictureLook): Usage {
  const [width = 0, height = 0] = (size ?? '').split('x').map(Number)
  const area = width * height || USUAL_PIXELS
  const output = count * Math.ceil(((TOKENS_OF_QUALITY.get(quality) ?? USUAL_PICTURE_TOKENS) * area) / USUAL_PIXELS)
  return { ...ZERO_USAGE, output, units: [{ billable: 'output_image', unit: 'token', count: output }] }
}
