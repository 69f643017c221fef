/** Reads answers of the four formats as their client libraries do: the text, and whether the answer ended as it must. */
import { textOf } from '@/lib/json'
import type { ClientFormat } from './request'

export type StreamReading = {
  text: string
  raw: string
  ending: 'complete' | 'error-event' | 'broken' | 'silent' | 'hung-up'
}

/** The text of a whole answer, or undefined where it is none. */
export function readWhole(format: ClientFormat, raw: string): string | undefined {
  const json = parse(raw)
  return json && shownText(format, json, 'whole')
}

/** Reads a stream to its end, or until `isEnough`; then `hangUp` is called. Never rejects. */
export async function readStreamed(
  format: ClientFormat,
  response: Response,
  isEnough: (reading: StreamReading) => boolean,
  hangUp: () => void,
): Promise<StreamReading> {
  const reading: StreamReading = { text: '', raw: '', ending: 'silent' }
  const decoder = new TextDecoder()
  let rest = ''
  let hasEnded = false
  let hasFailed = false
  try {
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true })
      reading.raw += piece
      rest += piece
      // A CR at the very end may be half of a CR LF.
      const complete = rest.endsWith('\r') ? rest.slice(0, -1) : rest
      const events = complete.replaceAll(/\r\n?/g, '\n').split('\n\n')
      rest = (events.pop() ?? '') + rest.slice(complete.length)
      for (const event of events) {
        const json = parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? '')
        if (isError(event, json)) hasFailed = true
        if (isEnd(format, event, json)) hasEnded = true
        if (json) reading.text += shownText(format, json, 'piece') ?? ''
      }
      if (isEnough(reading)) break
    }
  } catch {
    return { ...reading, ending: hasEnded ? 'complete' : 'broken' }
  }
  if (isEnough(reading)) {
    hangUp()
    return { ...reading, ending: 'hung-up' }
  }
  if (hasFailed) return { ...reading, ending: 'error-event' }
  return { ...reading, ending: hasEnded ? 'complete' : 'silent' }
}

type Json = Record<string, unknown>

function isError(event: string, json: Json | undefined): boolean {
  return event.startsWith('event: error') || (json !== undefined && 'error' in json)
}

function isEnd(format: ClientFormat, event: string, json: Json | undefined): boolean {
  switch (format) {
    case 'chat-completions':
      return /^data: ?\[DONE\]$/m.test(event)
    case 'messages':
      return event.startsWith('event: message_stop')
    case 'generate-content':
      return json !== undefined && first(json.candidates)?.finishReason !== undefined
    case 'responses':
      return /^event: response\.(completed|incomplete)$/m.test(event)
  }
}

function shownText(format: ClientFormat, json: Json, part: 'whole' | 'piece'): string | undefined {
  switch (format) {
    case 'chat-completions': {
      const choice = first(json.choices)
      const message = (part === 'whole' ? choice?.message : choice?.delta) as Json | undefined
      return textOf(message?.content)
    }
    case 'messages':
      return part === 'whole' ? textOf(first(json.content)?.text) : textOf((json.delta as Json | undefined)?.text)
    case 'generate-content':
      return textOf(first((first(json.candidates)?.content as Json | undefined)?.parts)?.text)
    case 'responses':
      return part === 'whole' ? textOf(first(first(json.output)?.content)?.text) : deltaOf(json)
  }
}

/** The deltas of its other events are no text that is shown. */
function deltaOf(json: Json): string | undefined {
  return json.type === 'response.output_text.delta' ? textOf(json.delta) : undefined
}

function first(list: unknown): Json | undefined {
  return Array.isArray(list) ? (list[0] as Json | undefined) : undefined
}

function parse(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? (value as Json) : undefined
  } catch {
    return undefined
  }
}
