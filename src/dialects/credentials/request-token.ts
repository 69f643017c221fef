/** Asks a token endpoint for a token. Nothing of its answer but that and the word of its error goes any further. */
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { CredentialError } from './authorizer'
import type { Token } from './token-source'

/** A token endpoint that says nothing for so long is taken for dead. */
const TIMEOUT_MS = 10_000
const MAX_ANSWER_CHARS = 65_536
/** Whatever is more than a word may quote a secret. */
const WORD = /^[A-Za-z0-9_.-]{1,64}$/

/** The token in the JSON answer of `url`, which says how many seconds it lives, or until when. `what` names the endpoint in errors; `mark` is a header without which an answer is not its. */
export async function requestToken(
  what: string,
  url: string,
  init: RequestInit,
  mark?: { name: string; value: string },
): Promise<Token> {
  const startedMs = Date.now()
  let status: number
  let text: string
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (mark && response.headers.get(mark.name) !== mark.value) throw new CredentialError(`${what} is somebody else`)
    status = response.status
    text = await response.text()
  } catch (error) {
    if (error instanceof CredentialError) throw error
    const name = error instanceof Error ? error.name : 'error'
    throw new CredentialError(`${what} cannot be reached: ${name}`)
  }
  const answer = text.length > MAX_ANSWER_CHARS ? undefined : parseJson(text)
  const fields: JsonObject = isJsonObject(answer) ? answer : {}
  const { access_token: value, error: word } = fields
  const lifeSeconds = Number(fields.expires_in ?? Number(fields.expires_on) - startedMs / 1000)
  if (status === 200 && typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && lifeSeconds > 0) {
    return { value, expiresAtMs: startedMs + lifeSeconds * 1000 }
  }
  const said = typeof word === 'string' && WORD.test(word) ? ` ${word}` : ''
  throw new CredentialError(`${what} answered ${status}${said} without a token`)
}
