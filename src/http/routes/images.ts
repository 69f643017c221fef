/** The endpoints of pictures: `POST /v1/images/generations` and `/v1/images/edits`, in every spelling that clients use. */
import { Elysia } from 'elysia'
import {
  decodePictureEdit,
  decodePictures,
  PictureEditRequest,
  PictureEvent,
  PicturesRequest,
  PicturesResponse,
} from '@/formats/chat-completions/index'
import type { Format } from '@/formats/format'
import { formatNamed } from '@/http/answer-chat'
import { answerMedia } from '@/http/answer-media'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import { exampleOfKind } from '@/http/openapi/example-model'
import { operation } from '@/http/openapi/operation'

/** The most bytes of a form with pictures, as at OpenAI. */
const MAX_FORM_BYTES = 50 * 1024 * 1024
const EXAMPLE = { model: exampleOfKind('image'), prompt: 'A red fox in the snow', size: '1024x1024' }

/** Mounts both endpoints. */
export function imageRoutes(deps: HttpDeps) {
  const format = formatNamed(deps, 'chat-completions')
  const generations = { format, kind: 'image', route: '/v1/images/generations' } as const
  const generate = ({ request }: { request: Request }) =>
    answerMedia(deps, request, { ...generations, decode: ({ json }) => decodePictures(json) })
  const edits = { format, kind: 'image', route: '/v1/images/edits', maxFormBytes: MAX_FORM_BYTES } as const
  const edit = ({ request }: { request: Request }) =>
    answerMedia(deps, request, { ...edits, decode: decodePictureEdit })
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return new Elysia({ name: 'image-routes' })
    .post('/v1/images/generations', generate, { parse: 'none', detail: generationDetail(format) })
    .post('/v1/v1/images/generations', generate, undocumented)
    .post('/images/generations', generate, undocumented)
    .post('/v1/images/edits', edit, { parse: 'none', detail: editDetail(format) })
    .post('/v1/v1/images/edits', edit, undocumented)
    .post('/images/edits', edit, undocumented)
}

const COMMON =
  'Models whose `kind` is `image` take it. Only pictures that come are charged, by tokens or by the picture. With `stream: true` the ' +
  'answer is server-sent events: unfinished pictures, if `partial_images` asks for them, and finished ones.'

function generationDetail(format: Format) {
  return operation({
    tag: 'Inference',
    summary: 'Create pictures (family 1)',
    description: `Pictures from a text. ${COMMON}`,
    formats: [format],
    requestSchema: PicturesRequest,
    examples: { picture: { summary: 'One picture', value: EXAMPLE } },
    responseSchema: PicturesResponse,
    eventSchema: PictureEvent,
    errors: INFERENCE_ERRORS,
  })
}

function editDetail(format: Format) {
  return operation({
    tag: 'Inference',
    summary: 'Change pictures (family 1)',
    description: `Pictures from a text and other pictures, in a form of at most 50 MB. ${COMMON}`,
    formats: [format],
    requestSchema: PictureEditRequest,
    requestType: 'multipart/form-data',
    examples: {
      picture: {
        summary: 'One picture, changed',
        value: { model: exampleOfKind('image'), prompt: 'Make it blue', image: '@fox.png' },
      },
    },
    responseSchema: PicturesResponse,
    eventSchema: PictureEvent,
    errors: INFERENCE_ERRORS,
  })
}
