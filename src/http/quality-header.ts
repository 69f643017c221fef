/** The header by which a client asks for quality without touching its bodies. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'

/** Its name, for the documentation as well. */
export const QUALITY_HEADER = 'x-svc-quality'

const FROM_0_TO_1 = /^(?:0?\.\d{1,9}|[01](?:\.0{1,9})?)$/

/** The request with the quality that the header asks for, whatever its body says. Throws `invalid_request` for anything but a number from 0 to 1. */
export function withQualityHeader(request: ChatRequest, headers: Headers): ChatRequest {
  const text = headers.get(QUALITY_HEADER)
  if (!text) return request
  if (!FROM_0_TO_1.test(text)) throw invalidRequest(`${QUALITY_HEADER} must be a number from 0 to 1`, QUALITY_HEADER)
  const { preferences = { order: [], only: [], ignore: [] } } = request
  return { ...request, preferences: { ...preferences, quality: Number(text) } }
}
