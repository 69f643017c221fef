import { invalidRequest } from '@/chat/error'
import type { Protocol } from '@/chat/protocol'
import { describeBeta } from '@/formats/messages/betas'
import { DEFAULT_VERSION, VERSION_HEADER } from '@/formats/messages/provider'
import type { JsonObject, JsonValue } from '@/lib/json'

const BETA_HEADER = 'anthropic-beta'
/** Body fields in which some clients repeat the betas; providers don't read them. */
const BETA_FIELDS = ['betas', 'anthropic_beta'] as const

const VERSION = /^\d{4}-\d{2}-\d{2}$/
const BETA = /^[A-Za-z0-9][\w.-]*$/
const LIMITS = { betas: 64, betaChars: 96 }

/** Reads protocol version and betas from headers; undefined for defaults. Throws `invalid_request` for values that no provider accepts. */
export function readProtocol(headers: Headers, body: JsonObject): Protocol | undefined {
  const version = headers.get(VERSION_HEADER)
  const named = headers.get(BETA_HEADER)
  const isUsual = version === null || version === DEFAULT_VERSION
  if (isUsual && named === null && body.betas === undefined && body.anthropic_beta === undefined) return undefined
  if (!isUsual && !VERSION.test(version)) throw invalidRequest(`${VERSION_HEADER} must be a date`, VERSION_HEADER)
  const names = new Set(readNames(named, BETA_HEADER))
  for (const field of BETA_FIELDS) for (const name of readNames(body[field], field)) names.add(name)
  if (names.size > LIMITS.betas) refuse(BETA_HEADER)
  return {
    ...(!isUsual && { version: { header: VERSION_HEADER, value: version } }),
    betaHeader: BETA_HEADER,
    betas: [...names].map((name) => describeBeta(name, body)),
  }
}

function readNames(list: JsonValue | undefined, place: string): string[] {
  if (list === undefined || list === null) return []
  const items = Array.isArray(list) ? list : [list]
  return items.flatMap((item) => (typeof item === 'string' ? splitNames(item, place) : refuse(place)))
}

function splitNames(text: string, place: string): string[] {
  const names = text.split(',').flatMap((piece) => piece.trim() || [])
  if (names.some((name) => name.length > LIMITS.betaChars || !BETA.test(name))) refuse(place)
  return names
}

function refuse(place: string): never {
  const { betas, betaChars } = LIMITS
  const words = `at most ${betas} names of letters, digits, dots, _ and -, each of at most ${betaChars} characters`
  throw invalidRequest(`${place} must be ${words}`, place)
}
