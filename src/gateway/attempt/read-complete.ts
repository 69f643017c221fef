/** Decodes a complete answer, and decides whether it is valid. */
import type { ChatResponse, FinishKind, FinishReason } from '@/chat/response'
import type { Format } from '@/formats/format'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import type { UpstreamBody } from '@/upstream/answer'
import type { UpstreamFailure } from '@/upstream/failure'

/** `raw` is the provider's own JSON; undefined if the answer was put together from a stream. */
export type CompleteAnswer = {
  kind: 'complete'
  response: ChatResponse
  raw: { text: string; json: JsonObject } | undefined
}

type Failed = { kind: 'failed'; failure: UpstreamFailure }

/** The largest complete answer: far above any model's output, including images. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024

const decoder = new TextDecoder()

/** Decodes the complete answer of a provider that speaks `format`. */
export function decodeComplete(body: UpstreamBody, format: Format, isTranslated: boolean): CompleteAnswer | Failed {
  if (body.kind === 'failed') return body
  const text = decoder.decode(body.bytes)
  const json = parseJson(text)
  if (json === undefined) return malformed('answer is not JSON')
  if (isTranslated) rememberNumbers(json, text)
  const response = format.decodeResponse(json)
  if (response && isJsonObject(json)) return completeAnswer(response, { text, json }, isTranslated)
  // Some services send status 200 before they detect an error, as in streams.
  if (isJsonObject(json) && (isJsonObject(json.error) || json.type === 'error')) {
    return { kind: 'failed', failure: { kind: 'refused', error: format.decodeError(undefined, json) } }
  }
  return malformed('answer is not of the provider format')
}

/** Finish reasons that mean a failure if there is no content: an error, or an unknown value. */
const NO_ANSWER: ReadonlySet<FinishKind> = new Set(['error', 'unknown'])

/** Whether an empty answer counts as a failure: if it `isTranslated` and its finish reason is not a normal one. */
export function isNoAnswer(finish: FinishReason, isTranslated: boolean): boolean {
  return isTranslated && NO_ANSWER.has(finish.kind)
}

/** The complete answer; a failure if it is empty for a reason that the client's format can't express. */
export function completeAnswer(
  response: ChatResponse,
  raw: { text: string; json: JsonObject } | undefined,
  isTranslated: boolean,
): CompleteAnswer | Failed {
  const [first] = response.choices
  const isEmpty = response.choices.every((choice) => choice.content.length === 0)
  if (isEmpty && first && isNoAnswer(first.finish, isTranslated)) {
    return { kind: 'failed', failure: emptyFailure(first.finish) }
  }
  return { kind: 'complete', response, raw }
}

/** The failure of an empty answer. After translation, it would look like a success without content. */
export function emptyFailure(finish: FinishReason): UpstreamFailure {
  return { kind: 'malformed', detail: `empty answer, finished with ${finish.raw ?? finish.kind}` }
}

function malformed(detail: string): Failed {
  return { kind: 'failed', failure: { kind: 'malformed', detail } }
}
