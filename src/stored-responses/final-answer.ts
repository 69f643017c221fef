import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { asWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { editJson } from '@/lib/json-splice'
import { formatSse, SseParser } from '@/lib/streams/sse'
import { STORED_ID } from './limits'

export type FinalAnswer = {
  id: string
  text: string
  output: JsonObject[]
  /** The provider's token count of the whole prompt; null if unknown. */
  inputTokens: number | null
  /** The same last bytes, but with `store: false` in the answer. */
  unstored(): string
}

/** Statuses of answers that a later request may continue; failed answers are excluded. */
const STATUSES: ReadonlySet<unknown> = new Set(['completed', 'incomplete'])

/** The answer in the caller's last bytes (JSON body, or a stream's final event); undefined if there is none that could be stored. */
export function readFinalAnswer(lastWords: string): FinalAnswer | undefined {
  return lastWords.startsWith('{') ? readJson(lastWords) : readStream(lastWords)
}

function readJson(text: string): FinalAnswer | undefined {
  const answer = parseJson(text)
  const unstored = () => editJson(text, [{ path: ['store'], value: false }])
  return isJsonObject(answer) ? finalAnswer(answer, text, unstored) : undefined
}

function readStream(lastWords: string): FinalAnswer | undefined {
  for (const event of new SseParser().append(lastWords).toReversed()) {
    const { data, raw } = event
    if (data === undefined || !data.startsWith('{')) continue
    const json = parseJson(data)
    if (!isJsonObject(json) || !isJsonObject(json.response)) return undefined
    rememberNumbers(json, data)
    const at = lastWords.lastIndexOf(raw)
    return finalAnswer(json.response, JSON.stringify(asWritten(json.response)), () => {
      const fresh = editJson(data, [{ path: ['response', 'store'], value: false }])
      const frame = event.event === undefined ? { data: fresh } : { event: event.event, data: fresh }
      return lastWords.slice(0, at) + formatSse(frame) + lastWords.slice(at + raw.length)
    })
  }
  return undefined
}

function finalAnswer(answer: JsonObject, text: string, unstored: () => string): FinalAnswer | undefined {
  const { id, output, status, usage } = answer
  if (typeof id !== 'string' || !STORED_ID.test(id) || !STATUSES.has(status) || !Array.isArray(output)) return undefined
  const counted = isJsonObject(usage) ? usage.input_tokens : undefined
  const inputTokens = typeof counted === 'number' && Number.isSafeInteger(counted) ? counted : null
  return { id, text, output: output.filter(isJsonObject), inputTokens, unstored }
}
