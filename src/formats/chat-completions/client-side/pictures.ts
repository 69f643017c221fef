/** Pictures for chat-completions clients: decodes requests, and defines answers and the events of streams. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { type PictureRequest, picturesAsUnit } from '@/chat/picture'
import { LIMITS } from '@/formats/chat-completions/limits'
import { leftFields, refuseFallback } from '@/formats/chat-completions/media-fields'
import type { MediaRequest } from '@/formats/media-call'
import { preferencesSchema, readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { object, oneOf, optional } from '@/lib/schemas'

const { prompt, count, partials, compression, word, files } = LIMITS.pictures
const SIZE = /^(?:auto|[1-9]\d{1,4}x[1-9]\d{1,4})$/

const FIELDS = {
  model: Type.String({ ...LIMITS.modelChars, examples: ['svc/picture'] }),
  prompt: Type.String(prompt),
  n: optional(Type.Integer({ ...count, default: 1 })),
  size: optional(Type.String({ ...word, description: 'Width and height, such as `1024x1536`, or `auto`' })),
  quality: optional(Type.String({ ...word, description: '`low`, `medium`, `high` or another word of the model' })),
  background: optional(Type.String(word)),
  output_format: optional(Type.String({ ...word, description: '`png`, `jpeg` or `webp`' })),
  output_compression: optional(Type.Integer(compression)),
  response_format: optional(
    oneOf(['b64_json', 'url'], {
      description: 'A model that gives only base64 answers `url` with a `data:` address',
    }),
  ),
  stream: optional(Type.Boolean()),
  partial_images: optional(Type.Integer(partials)),
  user: optional(Type.String()),
  safety_identifier: optional(Type.String()),
  svc: optional(preferencesSchema()),
}

const GENERATION = { ...FIELDS, moderation: optional(Type.String(word)), style: optional(Type.String(word)) }
export const PicturesRequest = Type.Object(GENERATION, {
  title: 'PicturesRequest',
  examples: [{ model: 'svc/picture', prompt: 'A red fox in the snow', size: '1024x1024' }],
})

/** The fields of a form; pictures and mask are its files. */
const EDIT = { ...FIELDS, input_fidelity: optional(Type.String(word)) }

const Upload = Type.String({ format: 'binary' })
export const PictureEditRequest = Type.Object(
  {
    ...EDIT,
    image: Type.Union([Upload, Type.Array(Upload, files)], {
      description: 'The pictures to change, as `image` or `image[]`: PNG, JPEG or WebP',
    }),
    mask: Type.Optional(Upload),
  },
  { title: 'PictureEditRequest' },
)

const Details = Type.Object({ text_tokens: Type.Integer(), image_tokens: Type.Integer() })
const PicturesUsage = Type.Object(
  {
    input_tokens: Type.Integer(),
    input_tokens_details: Type.Optional(Details),
    output_tokens: Type.Integer(),
    output_tokens_details: Type.Optional(Details),
    total_tokens: Type.Integer(),
  },
  { title: 'PicturesUsage', description: 'As the provider states it; missing if it states none' },
)
const Look = {
  size: Type.Optional(Type.String()),
  quality: Type.Optional(Type.String()),
  background: Type.Optional(Type.String()),
  output_format: Type.Optional(Type.String()),
}

export const PicturesResponse = Type.Object(
  {
    created: Type.Integer({ description: 'Unix seconds' }),
    data: Type.Array(
      object({
        b64_json: Type.Optional(Type.String()),
        url: Type.Optional(Type.String()),
        revised_prompt: Type.Optional(Type.String()),
      }),
      { description: 'The finished pictures; only these are charged' },
    ),
    ...Look,
    usage: Type.Optional(PicturesUsage),
  },
  { title: 'PicturesResponse' },
)

/** The data of an event in a stream. */
export const PictureEvent = Type.Object(
  {
    type: oneOf([
      ...(['image_generation.partial_image', 'image_generation.completed'] as const),
      ...(['image_edit.partial_image', 'image_edit.completed'] as const),
    ]),
    b64_json: Type.String(),
    created_at: Type.Integer({ description: 'Unix seconds' }),
    partial_image_index: Type.Optional(Type.Integer()),
    ...Look,
    usage: Type.Optional(PicturesUsage),
  },
  { title: 'PictureEvent' },
)

const checkGeneration = createRequestCheck(PicturesRequest)
const checkEdit = createRequestCheck(Type.Object(EDIT))

/** Decodes `POST /v1/images/generations`. Throws `invalid_request` that names the field and its limit. */
export function decodePictures(body: JsonObject): MediaRequest {
  const fields = checkGeneration(body)
  return mediaRequest(fields, { ...wishesOf(body, fields, GENERATION), operation: 'generation', images: [] })
}

type Uploads = ReadonlyMap<string, readonly File[]>
type Form = { json: JsonObject; files?: Uploads }

const NO_FILES: Uploads = new Map()

/** Decodes the form of `POST /v1/images/edits`. Throws `invalid_request` that names the field and its limit. */
export function decodePictureEdit({ json, files: uploads = NO_FILES }: Form): MediaRequest {
  const images = uploads.get('image') ?? []
  const [mask, ...more] = uploads.get('mask') ?? []
  if (images.length === 0) throw invalidRequest('image is required: a picture as a file', 'image')
  if (images.length > files.maxItems) throw invalidRequest(`image must be at most ${files.maxItems} files`, 'image')
  if (more.length > 0) throw invalidRequest('mask must be one file', 'mask')
  const body = typedFields(json)
  const fields = checkEdit(body)
  const request = { ...wishesOf(body, fields, EDIT), operation: 'edit' as const, images: images.map(asPicture) }
  return mediaRequest(fields, mask ? { ...request, mask: asPicture(mask) } : request)
}

const PICTURE_TYPE = /^image\/(?:png|jpeg|webp)$/
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
])

/** The file with its media type. If the client sends none, the file name's extension decides. */
function asPicture(file: File): File {
  if (PICTURE_TYPE.test(file.type)) return file
  const isUntyped = file.type === '' || file.type.startsWith('application/octet-stream')
  const type = isUntyped ? TYPES.get(file.name.split('.').pop()?.toLowerCase() ?? '') : undefined
  if (type === undefined) throw invalidRequest('image must be image/png, image/jpeg or image/webp', 'image')
  return new File([file], file.name, { type })
}

const INTEGERS: ReadonlySet<string> = new Set(['n', 'output_compression', 'partial_images'])
const INTEGER = /^\d{1,9}$/
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** Converts a form's texts to the types of their fields. A text that can't be converted stays, and the check refuses it. */
function typedFields(form: JsonObject): JsonObject {
  const fields = Object.entries(form).map(([field, value]) => {
    if (typeof value !== 'string') return [field, value]
    if (INTEGERS.has(field) && INTEGER.test(value)) return [field, Number(value)]
    return [field, field === 'stream' ? (BOOLEANS.get(value) ?? value) : value]
  })
  return Object.fromEntries(fields)
}

type Fields = Static<TObject<typeof FIELDS>>

function wishesOf(body: JsonObject, fields: Fields, known: object): Omit<PictureRequest, 'operation' | 'images'> {
  refuseFallback(body)
  const size = chosen(fields.size)
  const quality = chosen(fields.quality)
  if (size !== undefined && !SIZE.test(size)) {
    throw invalidRequest('size must be auto, or width and height such as 1024x1536', 'size')
  }
  if (fields.partial_images && !fields.stream) {
    throw invalidRequest('partial_images needs stream: true', 'partial_images')
  }
  return {
    prompt: fields.prompt,
    count: fields.n ?? 1,
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(fields.response_format && { packing: fields.response_format }),
    stream: fields.stream ?? false,
    fields: body,
    unlisted: leftFields(body, new Set(Object.keys(known))),
  }
}

/** A setting's value; undefined if it is empty or `auto`, with which the provider chooses. */
function chosen(given: string | null | undefined): string | undefined {
  return given === 'auto' || given === '' ? undefined : (given ?? undefined)
}

/** Maximum tokens that providers count for one picture in a request; `USUAL_TOKENS` is the usual number. */
const MOST_TOKENS = 12_000
/** The most tokens that a provider adds to every prompt. */
const OVERHEAD_TOKENS = 100
const USUAL_TOKENS = 1_000

function mediaRequest({ model, svc, user }: Fields, request: PictureRequest): MediaRequest {
  const { images, mask, count, stream, prompt, unlisted } = request
  const pictures = images.length + (mask ? 1 : 0)
  const most = pictures * MOST_TOKENS
  return {
    model,
    stream,
    ...readPreferences(svc),
    ...(typeof user === 'string' && { userId: user }),
    texts: [prompt],
    inputTokens: { most: most + OVERHEAD_TOKENS, likely: pictures * USUAL_TOKENS },
    answers: count,
    outputTokensAre: 'output_image',
    most: [picturesAsUnit(count, request), { billable: 'input_image', unit: 'token', count: most }],
    unlisted,
    callFor: (provider) => provider.media?.image?.(request),
  }
}
