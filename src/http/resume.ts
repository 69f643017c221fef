/** What a request builds on, for formats whose answers can be built on by their ids: read again before the request is decoded. */
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import type { JsonObject } from '@/lib/json'
import type { Resumed, StoredResponses } from '@/stored-responses/stored-responses'
import type { HttpDeps } from './deps'

type Arrived = { format: Format; payer: Payer; body: JsonObject; bytes: number }

/** The request with what it builds on; undefined where its format has no such thing. Throws where that is not there. */
export function resumeRequest(
  { storedResponses }: Pick<HttpDeps, 'storedResponses'>,
  { format, payer, body, bytes }: Arrived,
): ReturnType<StoredResponses['resume']> | undefined {
  return format.resumesAnswers ? storedResponses.resume({ ...payer, body, bytes }) : undefined
}

/** The decoded request with what its answer says of all this. */
export function withEcho(request: ChatRequest, { echo, leftOut }: Resumed): ChatRequest {
  const unlisted = leftOut.length > 0 ? [...(request.unlisted ?? []), ...leftOut] : request.unlisted
  return { ...request, answerEcho: { ...request.answerEcho, ...echo }, ...(unlisted && { unlisted }) }
}
