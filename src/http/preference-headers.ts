/** Headers for routing preferences, for clients that can't change request bodies. */
import { invalidRequest } from '@/chat/error'
import type { RoutePreferences } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'

export const QUALITY_HEADER = 'x-svc-quality'
export const LOSSY_HEADER = 'x-svc-lossy'
export const USAGE_RECORD_HEADER = 'x-svc-usage-record'

const FROM_0_TO_1 = /^(?:0?\.\d{1,9}|[01](?:\.0{1,9})?)$/
const NO_WISH: RoutePreferences = { order: [], only: [], ignore: [] }

/**
 * The request with the headers' preferences: quality (overrides the body's), accepted losses, and cost in the answer. Throws
 * `invalid_request` for a quality outside 0 to 1, and for values other than `true` and `false`.
 */
export function withPreferenceHeaders(decoded: ChatRequest, headers: Headers): ChatRequest {
  const request = wantsUsageRecord(headers) ? { ...decoded, wantsUsage: true, wantsCost: true as const } : decoded
  const quality = readQuality(headers)
  const lossy = readLossy(headers)
  if (quality === undefined && !lossy) return request
  const { preferences = NO_WISH } = request
  const wished = { ...(quality !== undefined && { quality }), ...(lossy && { lossy }) }
  return { ...request, preferences: { ...preferences, ...wished } }
}

/** Whether the header requests the answer's cost. */
export function wantsUsageRecord(headers: Headers): boolean {
  return headers.get(USAGE_RECORD_HEADER) === 'true'
}

function readQuality(headers: Headers): number | undefined {
  const text = headers.get(QUALITY_HEADER)
  if (!text) return undefined
  if (!FROM_0_TO_1.test(text)) throw invalidRequest(`${QUALITY_HEADER} must be a number from 0 to 1`, QUALITY_HEADER)
  return Number(text)
}

function readLossy(headers: Headers): true | undefined {
  const text = headers.get(LOSSY_HEADER)
  if (!text || text === 'false') return undefined
  if (text !== 'true') throw invalidRequest(`${LOSSY_HEADER} must be true or false`, LOSSY_HEADER)
  return true
}
