import { inflateSync } from 'node:zlib'
import { addFont, codeSizes, noFonts } from './pdf-fonts'
import {
  isReference,
  type PdfDictionary,
  type PdfObject,
  type PdfReference,
  type PdfValue,
  readPdfObjects,
} from './pdf-objects'
import { readUnicodeMap, shownBytes, type UnicodeMap } from './pdf-text'

/** Tokens of a page's image at the highest detail. */
const PICTURE_TOKENS = 5_000
const TEXT_TOKENS = 3_000
/** Minimum tokens per stream, byte and map code, so that parsing work stays in proportion to the reserved credit. */
const STREAM_TOKENS = 100
const UNPACKED_BYTES_PER_TOKEN = 8

/** Keys whose text is outside the pages, or is drawn repeatedly. A PDF with such a key is not counted. */
const HIDING_KEYS: readonly string[] = [
  '/ActualText',
  '/AP',
  '/CharProcs',
  '/EF',
  '/EmbeddedFiles',
  '/Encrypt',
  '/UseCMap',
  '/XFA',
]
const HIDING_TYPES: ReadonlySet<PdfValue | undefined> = new Set(['/ObjStm', '/XRef'])
const MAX_DEPTH = 5

/**
 * The most tokens of a PDF. The file's own totals are not trusted: pages are counted in every page tree, and text by the codes that pages
 * draw. If pages or text may be hidden or reused, or the tokens exceed `most`, the size is infinite: the whole context. Takes linear time.
 */
export function pdfTokens(bytes: Buffer, most: number): number {
  const objects = readPdfObjects(bytes.toString('latin1'))
  return (objects && new Measure(bytes, objects, most - bytes.length).tokens()) ?? Number.POSITIVE_INFINITY
}

class Measure {
  private readonly kids = new Set<number>()
  private readonly contents = new Set<number>()
  private readonly notes = new Set<number>()
  private readonly fonts = new Set<number>()
  private readonly maps = new Map<number, UnicodeMap | undefined>()
  private readonly sizes = noFonts()
  private pages = 0
  private work = 0

  constructor(
    private readonly bytes: Buffer,
    private readonly objects: ReadonlyMap<number, PdfObject>,
    private readonly most: number,
  ) {}

  tokens(): number | undefined {
    for (const { value } of this.objects.values()) if (!this.look(value)) return undefined
    if (this.kids.size === 0) return undefined
    const pages = Math.max(this.kids.size, this.pages)
    const room = this.most - pages * PICTURE_TOKENS
    const sizes = codeSizes(this.sizes)
    let text = 0
    for (const id of this.contents) {
      const content = this.unpack(id, room)
      if (content === undefined) return undefined
      text += shownBytes(content, sizes, room - text)
    }
    const tokens = Math.max(text, Math.ceil(this.work), pages * TEXT_TOKENS)
    return tokens > room ? undefined : this.bytes.length + pages * PICTURE_TOKENS + tokens
  }

  private look(value: PdfValue): boolean {
    if (Array.isArray(value)) return value.every((item) => this.look(item))
    if (!(value instanceof Map)) return true
    if (HIDING_KEYS.some((key) => value.has(key)) || HIDING_TYPES.has(value.get('/Type'))) return false
    if (value.get('/Subtype') === '/Form') return false
    if (value.get('/Type') === '/Page') this.pages += 1
    const pattern = value.get('/PatternType')
    if (pattern !== undefined && pattern !== 2) return false
    if (!this.lookAtPage(value) || !this.lookAtResources(value)) return false
    for (const item of value.values()) if (!this.look(item)) return false
    return true
  }

  private lookAtPage(page: PdfDictionary): boolean {
    const [kids, contents, notes] = [page.get('/Kids'), page.get('/Contents'), page.get('/Annots')]
    if (kids !== undefined && !(Array.isArray(kids) && kids.every((kid) => isNew(this.kids, kid)))) return false
    if (contents !== undefined && contents !== '()') {
      const list = Array.isArray(contents) ? contents : [contents]
      if (!list.every((one) => isNew(this.contents, one))) return false
    }
    const list = Array.isArray(notes) ? notes : notes === undefined ? [] : [notes]
    return list.every((note) => !isReference(note) || isNew(this.notes, note))
  }

  private lookAtResources(resources: PdfDictionary): boolean {
    const mask = resources.get('/SMask')
    if (mask !== undefined && mask !== '/None' && !this.isPicture(mask)) return false
    const drawn = this.resolve(resources.get('/XObject'))
    if (drawn !== undefined && !(drawn instanceof Map && [...drawn.values()].every((one) => this.isPicture(one)))) {
      return false
    }
    const fonts = this.resolve(resources.get('/Font'))
    return fonts === undefined || (fonts instanceof Map && [...fonts.values()].every((font) => this.addFont(font)))
  }

  private isPicture(value: PdfValue): boolean {
    const object = isReference(value) ? this.objects.get(value.ref) : undefined
    return object?.data !== undefined && object.value instanceof Map && object.value.get('/Subtype') === '/Image'
  }

  private addFont(value: PdfValue): boolean {
    if (isReference(value)) {
      if (this.fonts.has(value.ref)) return true
      this.fonts.add(value.ref)
    }
    const font = this.resolve(value)
    const lookup = {
      resolve: (inner: PdfValue | undefined) => this.resolve(inner),
      mapOf: (map: PdfReference) => this.mapOf(map.ref),
    }
    return font instanceof Map && addFont(font, this.sizes, lookup)
  }

  private mapOf(id: number): UnicodeMap | undefined {
    if (this.maps.has(id)) return this.maps.get(id)
    const text = this.unpack(id, this.most)
    const map = text === undefined ? undefined : readUnicodeMap(text, this.most - this.work)
    this.maps.set(id, map)
    this.work += map?.codes ?? 0
    return map
  }

  /** A stream's bytes as latin1. Undefined if compressed in an unknown way, incomplete, or beyond `room` tokens. */
  private unpack(id: number, room: number): string | undefined {
    const { value, data } = this.objects.get(id) ?? {}
    if (!(value instanceof Map) || !data) return undefined
    if (['/DecodeParms', '/DP', '/F', '/FFilter'].some((key) => value.has(key))) return undefined
    const most = Math.floor((room - this.work - STREAM_TOKENS) * UNPACKED_BYTES_PER_TOKEN)
    const packed = this.bytes.subarray(data.start, data.end)
    const plain = unfilter(packed, value.get('/Filter'), most)
    this.work += STREAM_TOKENS + (plain?.length ?? 0) / UNPACKED_BYTES_PER_TOKEN
    return plain?.toString('latin1')
  }

  private resolve(value: PdfValue | undefined): PdfValue | undefined {
    let found = value
    for (let depth = 0; isReference(found) && depth < MAX_DEPTH; depth += 1) found = this.objects.get(found.ref)?.value
    return found
  }
}

function unfilter(packed: Buffer, filter: PdfValue | undefined, most: number): Buffer | undefined {
  const only = Array.isArray(filter) && filter.length < 2 ? filter[0] : filter
  if (most < 1) return undefined
  if (only === undefined) return packed.length <= most ? packed : undefined
  if (only !== '/FlateDecode') return undefined
  try {
    return inflateSync(packed, { maxOutputLength: most })
  } catch {
    return undefined
  }
}

/** Records a reference and returns true if it was new. False for other values. */
function isNew(known: Set<number>, value: PdfValue): boolean {
  if (!isReference(value) || known.has(value.ref)) return false
  known.add(value.ref)
  return true
}
