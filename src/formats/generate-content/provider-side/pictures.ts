/** Pictures at a generate-content provider: a conversation of one turn, which is answered with a picture. */
import { GatewayError, invalidRequest } from '@/chat/error'
import { type PictureRequest, pictureUsage } from '@/chat/picture'
import type { ChatRequest, ImageBlock } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import type { MediaAnswer, MediaBody, MediaCall, MediaTraits } from '@/formats/media-call'
import { encodePictureUsage, pictureEntry, writePictures } from '@/formats/picture-answers'
import { parseJson } from '@/lib/json'
import { decodeResponse } from './decode-response'
import { encodeRequest } from './encode-request'

/** Fields of a picture request that this format lacks. */
const LACKED = ['quality', 'background', 'output_format', 'output_compression', 'moderation', 'style', 'input_fidelity']

/** The call for a picture at a provider of the format. */
export function picturesCall(request: PictureRequest): MediaCall {
  return {
    encode: (traits) => encode(request, traits),
    decode(bytes) {
      const json = parseJson(new TextDecoder().decode(bytes))
      const response = json === undefined ? undefined : decodeResponse(json)
      return response && answerOf(response, request)
    },
  }
}

/** Throws `invalid_request` for several pictures, for a mask, and for an unsupported shape. */
async function encode(request: PictureRequest, { model, quirks }: MediaTraits): Promise<MediaBody> {
  const { count, mask, images, prompt, size, fields, unlisted } = request
  if (count > 1) throw invalidRequest('n: this model makes one picture for each request', 'n')
  if (mask)
    throw invalidRequest('mask: this model takes none; describe in the prompt where to change the picture', 'mask')
  const chat: ChatRequest = {
    model,
    stream: false,
    system: [],
    turns: [{ role: 'user', content: [...(await Promise.all(images.map(imageOf))), { type: 'text', text: prompt }] }],
    tools: [],
    sampling: {},
    choices: 1,
    output: { type: 'text' },
    pictures: { isOnly: true, ...shapeOf(size) },
    fallback: [],
    wantsUsage: true,
    extensions: {},
  }
  const { body } = encodeRequest(chat, { model, quirks, maxOutputTokens: Number.MAX_SAFE_INTEGER, accountId: '' })
  // A whole answer is requested, since this format never streams unfinished pictures.
  return { body, isWhole: true, leftOut: [...LACKED.filter((field) => fields[field] !== undefined), ...unlisted] }
}

async function imageOf(file: File): Promise<ImageBlock> {
  const data = Buffer.from(await file.arrayBuffer()).toString('base64')
  return { type: 'image', source: { type: 'base64', mediaType: file.type, data } }
}

/** Shapes that providers accept, with their width for a height of 1. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'].map((shape) => {
  const [width = 1, height = 1] = shape.split(':').map(Number)
  return { shape, ratio: width / height }
})
/** Maximum factor by which a requested shape may differ from the nearest accepted shape. */
const MAX_DISTORTION = 1.5
/** If the longer side is at most this, the provider's default size is used. */
const USUAL_SIDE = 1_536
const LARGE_SIDE = 3_072

/** The nearest accepted shape, and the size. Throws `invalid_request` if no accepted shape is near. */
function shapeOf(size: string | undefined): { aspectRatio?: string; imageSize?: string } {
  if (size === undefined) return {}
  const [width = 1, height = 1] = size.split('x').map(Number)
  const distortion = ({ ratio }: (typeof RATIOS)[number]) => Math.exp(Math.abs(Math.log(width / height / ratio)))
  const [nearest] = RATIOS.toSorted((one, other) => distortion(one) - distortion(other))
  if (!nearest || distortion(nearest) > MAX_DISTORTION) {
    throw invalidRequest(`size: this model makes no picture as narrow as ${size}`, 'size')
  }
  const side = Math.max(width, height)
  if (side <= USUAL_SIDE) return { aspectRatio: nearest.shape }
  return { aspectRatio: nearest.shape, imageSize: side > LARGE_SIDE ? '4K' : '2K' }
}

/** The answer's pictures; undefined if there are none. Throws `invalid_request` if the provider's filter blocked them. */
function answerOf({ choices, usage, created }: ChatResponse, request: PictureRequest): MediaAnswer | undefined {
  const data = choices.flatMap(({ content }) =>
    content.flatMap((block) => {
      if (block.type !== 'image' || block.source.type !== 'base64') return []
      return [pictureEntry(block.source.mediaType, block.source.data, request)]
    }),
  )
  if (data.length === 0) {
    if (choices.some(({ finish }) => finish.kind === 'content-filter')) throw filtered()
    return undefined
  }
  const answer = { created, data, ...(usage && { usage: encodePictureUsage(usage) }) }
  return { ...writePictures(request, answer), usage: pictureUsage(data.length, { size: request.size }, usage) }
}

function filtered(): GatewayError {
  const message = "The provider's filter held the picture back. Nothing was charged."
  return new GatewayError('invalid_request', message, { param: 'prompt', code: 'moderation_blocked' })
}
