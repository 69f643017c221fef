/** Pictures at a chat-completions provider: encodes requests, and decodes answers and the events of streams. */
import { type PictureLook, type PictureRequest, pictureUsage } from '@/chat/picture'
import { tokenParts, tokensOf } from '@/chat/units'
import { readCount, type Usage, withUnits, ZERO_USAGE } from '@/chat/usage'
import { fieldsLeftOut, passedFields } from '@/formats/chat-completions/media-fields'
import type { MediaAnswer, MediaBody, MediaCall, MediaPiece, MediaReader, MediaTraits } from '@/formats/media-call'
import { PICTURE_EVENTS, pictureEntry, writePictures } from '@/formats/picture-answers'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, textOf } from '@/lib/json'
import { decodeError } from './decode-error'
import { EventTap } from './event-tap'

/** Models that always answer base64 and refuse `response_format`; older models answer URLs unless that field is sent. */
const BASE64_MODEL = /^(?:chat)?gpt-image/

/** The call for pictures at a provider of the format. */
export function picturesCall(request: PictureRequest): MediaCall {
  return {
    encode: (traits) => encode(request, traits),
    decode: (bytes) => decode(bytes, request),
    read: (contentType) => (contentType.startsWith(PICTURE_EVENTS) ? new PictureReader(request) : undefined),
  }
}

function encode(request: PictureRequest, traits: MediaTraits): MediaBody {
  const { operation, unlisted, fields } = request
  const leftOut = fieldsLeftOut(unlisted, traits)
  const isBase64 = BASE64_MODEL.test(traits.family ?? traits.model)
  const body = { ...passedFields(fields, isBase64 ? [...leftOut, 'response_format'] : leftOut), model: traits.model }
  return operation === 'generation'
    ? { path: 'images/generations', body, leftOut }
    : { path: 'images/edits', body: formOf(body, request), leftOut }
}

/** An edit is a form with the pictures as files. */
function formOf(body: JsonObject, { images, mask }: PictureRequest): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(body)) {
    form.append(field, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const name = images.length > 1 ? 'image[]' : 'image'
  for (const image of images) form.append(name, image, image.name)
  if (mask) form.append('mask', mask, mask.name)
  return form
}

const decoder = new TextDecoder()

/** The provider's own answer, with each picture as a URL or as base64, as requested. */
function decode(bytes: Uint8Array, request: PictureRequest): MediaAnswer | undefined {
  const json = parseJson(decoder.decode(bytes))
  if (!isJsonObject(json) || !Array.isArray(json.data)) return undefined
  const entries = json.data.filter(isPicture)
  if (entries.length === 0) return undefined
  const mediaType = `image/${textOf(json.output_format) ?? textOf(request.fields.output_format) ?? 'png'}`
  const data = entries.map((entry) => packed(entry, mediaType, request))
  return {
    ...writePictures(request, { created: 0, ...json, data }),
    usage: pictureUsage(entries.length, lookOf(json, request), decodePictureUsage(json.usage)),
  }
}

function isPicture(entry: JsonValue | undefined): entry is JsonObject {
  return isJsonObject(entry) && Boolean(textOf(entry.b64_json) || textOf(entry.url))
}

/** A picture's entry with a `data:` URL instead of base64, if the caller wants URLs. */
function packed(entry: JsonObject, mediaType: string, request: PictureRequest): JsonObject {
  const { b64_json: data, url, ...rest } = entry
  if (request.packing !== 'url' || typeof data !== 'string' || typeof url === 'string') return entry
  return { ...rest, ...pictureEntry(mediaType, data, request) }
}

/** Size and quality as the provider states them, else as they were requested. */
function lookOf(stated: JsonObject, asked: PictureLook): PictureLook {
  return { size: textOf(stated.size) ?? asked.size, quality: textOf(stated.quality) ?? asked.quality }
}

/** The tokens of an answer or of a stream's finished picture; null without usable counts. Without details, all output is image tokens. */
function decodePictureUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const uncached = readCount(usage.input_tokens)
  const output = readCount(usage.output_tokens)
  if (uncached === undefined || output === undefined || uncached + output === 0) return null
  const read = imageTokens(usage.input_tokens_details) ?? 0
  const written = imageTokens(usage.output_tokens_details) ?? output
  return withUnits({ ...ZERO_USAGE, uncached, output }, tokenParts(uncached, 0, read, output, 0, written))
}

function imageTokens(details: JsonValue | undefined): number | undefined {
  return isJsonObject(details) ? readCount(details.image_tokens) : undefined
}

const FINISHED = /^image_(?:generation|edit)\.completed$/
const UNFINISHED = /^image_(?:generation|edit)\.partial_image$/

/** Reads a stream of pictures. The events are relayed as they are. */
class PictureReader implements MediaReader {
  readonly contentType = PICTURE_EVENTS
  readonly isEvents = true
  readonly isFreeUntilUsage = true
  private readonly tap = new EventTap()
  private look: PictureLook
  private finished = 0
  private tokens: Usage | null = null
  private isUnfinishedShown = false

  constructor(request: PictureRequest) {
    this.look = request
  }

  push(bytes: Uint8Array): MediaPiece {
    return this.pieceOf(bytes, this.tap.push(bytes))
  }

  end(): MediaPiece & { isWhole: boolean } {
    const piece = this.pieceOf(new Uint8Array(), this.tap.end())
    return { ...piece, isWhole: this.finished > 0 }
  }

  /** A picture that was sent unfinished counts as a whole one: the client may have seen nearly all of it. */
  likelyUsage(): Usage {
    return pictureUsage(this.finished + (this.isUnfinishedShown ? 1 : 0), this.look, this.tokens)
  }

  private pieceOf(bytes: Uint8Array, events: readonly JsonObject[]): MediaPiece {
    const piece: MediaPiece = { bytes }
    for (const json of events) {
      const type = textOf(json.type) ?? ''
      if (FINISHED.test(type)) piece.usage = this.finish(json)
      else if (UNFINISHED.test(type)) this.show(json)
      else if (isJsonObject(json.error) || type === 'error') piece.error = decodeError(undefined, json)
    }
    return piece
  }

  private show(json: JsonObject): void {
    this.isUnfinishedShown = true
    this.look = lookOf(json, this.look)
  }

  private finish(json: JsonObject): Usage {
    this.finished++
    this.isUnfinishedShown = false
    this.look = lookOf(json, this.look)
    this.tokens = sumOf(this.tokens, decodePictureUsage(json.usage))
    return pictureUsage(this.finished, this.look, this.tokens)
  }
}

/** The tokens of all pictures so far. */
function sumOf(before: Usage | null, own: Usage | null): Usage | null {
  if (!before || !own) return own ?? before
  const image = (side: 'input_image' | 'output_image') => tokensOf(before.units, side) + tokensOf(own.units, side)
  const uncached = before.uncached + own.uncached
  const output = before.output + own.output
  const parts = tokenParts(uncached, 0, image('input_image'), output, 0, image('output_image'))
  return withUnits({ ...ZERO_USAGE, uncached, output }, parts)
}
