/** Identifies a conversation by the caller's name or earlier turns, so that it keeps its model and provider key. Returns only digests. */
import type { ChatRequest } from '@/chat/request'
import { sha256Hex } from '@/lib/ids'
import { sampleTexts } from '@/routing/difficulty/sample'
import { readUserTurns, type UserTurn } from './read-request'

/**
 * The ids under which a conversation's model is read (`from`) and written (`to`). Without a name both are digests of the user's turns, up
 * to the previous turn and up to the current one. So each turn passes the model on, and conversations that only begin alike are separate.
 */
export type Session = {
  /** Undefined for the first turn of a conversation that has no name. */
  from: string | undefined
  to: string
  isNamed: boolean
}

/** The number of the user's turns in a digest, besides the first. */
const TURNS_TOLD_APART = 4
/** Characters of the system prompt in a digest: only its beginning, since later text may contain the time of day. */
const SYSTEM_CHARS = 1_000
const DIGEST_CHARS = 32

/**
 * The session of `request` within its account and tier. `name` is `x-svc-session`. A user id is no name, since many applications send the
 * same for all conversations. It only separates conversations with equal turns.
 */
export function sessionOf(accountId: string, request: ChatRequest, name: string | undefined): Session | undefined {
  const given = name || request.cacheKey
  if (!given) return unnamedSession(accountId, request)
  const digest = digestOf([accountId, request.model, given])
  return { from: digest, to: digest, isNamed: true }
}

/**
 * A permanent id of a conversation within its account: its `name`, or its beginning. A cache key is no name, since an application may use
 * one for all requests. Undefined without a user's turn.
 */
export function conversationOf(accountId: string, request: ChatRequest, name: string | undefined): string | undefined {
  if (name) return digestOf([accountId, name])
  const { turns, system, userId = '', cacheKey = '' } = request
  const first = readUserTurns(turns, 1).at(-1)
  return first && digestOf([accountId, '', userId, cacheKey, beginningOf(system), outlineOf(first)])
}

function unnamedSession(accountId: string, request: ChatRequest): Session | undefined {
  const { turns, model, userId = '' } = request
  const said = readUserTurns(turns, TURNS_TOLD_APART + 1)
  const [last] = said
  const first = said.at(-1)
  if (!last || !first) return undefined
  const beginning = [accountId, model, '', userId, beginningOf(request.system)]
  const digestFrom = (start: number) => {
    const latest = said.slice(start, start + TURNS_TOLD_APART)
    if (!latest.includes(first)) latest.push(first)
    return digestOf([...beginning, ...latest.map(outlineOf)])
  }
  const to = digestFrom(0)
  // Tool results after the user's last text belong to the same turn.
  const goesOn = last.place < turns.length - 1 && turns.at(-1)?.role === 'user'
  return { from: goesOn ? to : said.length > 1 ? digestFrom(1) : undefined, to, isNamed: false }
}

function beginningOf(system: ChatRequest['system']): string {
  let text = ''
  for (const block of system) {
    text += block.text.slice(0, SYSTEM_CHARS - text.length)
    if (text.length >= SYSTEM_CHARS) break
  }
  return text
}

function outlineOf({ texts, place }: UserTurn): string {
  const { text, chars } = sampleTexts(texts)
  return `${place} ${chars} ${text}`
}

/** A hash, because a name may be any text, and Redis must not contain content. */
function digestOf(parts: readonly string[]): string {
  return sha256Hex(parts.join('\n')).slice(0, DIGEST_CHARS)
}
