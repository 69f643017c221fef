/** What no answer may be, whatever was asked: a crash, a stack, a secret, an error in another family's words. */
import { isJsonObject, type JsonValue, parseJson } from '@/lib/json'

type Observed = { status: number; headers: Headers; text: string }

/** What may come back of a probe. `forbidden` texts belong to others; `mayBeTaken` is false if nothing good may come. */
type Expectation = { path: string; forbidden: readonly string[]; mayBeTaken: boolean }

const STACK = /\n\s+at .+:\d+|\/src\/[a-z-]+\/|node_modules|\bat [A-Za-z]+ \(/
/** Ours: busy, in the words of each family. */
const BUSY = [503, 529]

/** What is wrong with an answer; empty if nothing is. */
export function faultsOf({ status, headers, text }: Observed, expected: Expectation): string[] {
  const faults: string[] = []
  if (status >= 500 && !BUSY.includes(status)) faults.push(`status ${status}`)
  if (status < 400 && !expected.mayBeTaken) faults.push(`status ${status} where nothing good may come`)
  const all = `${text}\n${[...headers].map(([name, value]) => `${name}: ${value}`).join('\n')}`
  if (STACK.test(all)) faults.push('a stack or a path of ours')
  for (const secret of expected.forbidden) if (all.includes(secret)) faults.push(`holds ${secret.slice(0, 12)}…`)
  if (status >= 400 && text !== '' && !hasShape(parseJson(text), expected.path))
    faults.push(`the wrong shape of error: ${status} ${text.slice(0, 200)}`)
  return faults
}

function hasShape(body: JsonValue | undefined, path: string): boolean {
  if (/^\/v1\/messages(\/count_tokens)?\/?$/.test(path)) return isMessages(body)
  if (/:(generateContent|streamGenerateContent|countTokens)$/.test(path)) {
    return isGenerateContent(Array.isArray(body) ? body[0] : body)
  }
  if (/^\/v1\/chat\/completions\/?$|^\/dashboard\/api/.test(path)) return isChatCompletions(body)
  return isChatCompletions(body) || isMessages(body) || isGenerateContent(body)
}

function isChatCompletions(body: JsonValue | undefined): boolean {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return false
  return ['message', 'type', 'param', 'code'].every((name) => isJsonObject(body.error) && name in body.error)
}

function isMessages(body: JsonValue | undefined): boolean {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return false
  return body.type === 'error' && typeof body.error.type === 'string' && typeof body.error.message === 'string'
}

function isGenerateContent(body: JsonValue | undefined): boolean {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return false
  const { code, message, status } = body.error
  return typeof code === 'number' && typeof message === 'string' && typeof status === 'string'
}
