/** What a client has at the end of a stream: what its official library assembled, and the reasoning, which not all of them assemble. */
import type { Sent } from '@test/matrix/clients/sending'
import type { FormatName } from '@/chat/format-name'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, textOf } from '@/lib/json'
import type { Said } from './script'

/** Throws if the library did. */
export function assembledBy(format: FormatName, { view, text, status }: Sent): Said {
  if (view?.kind !== 'answer') throw new Error(`status ${status}, the library: ${view?.message}`)
  // A library leaves a call as it came whose arguments are no text at all, which means none.
  const calls = view.calls.map(({ name, arguments: value }) => ({ name, arguments: value ?? {} }))
  return { text: view.text, reasoning: reasoningIn(format, text), calls }
}

function reasoningIn(format: FormatName, wire: string): string {
  const blocks = wire.replaceAll(/\r\n?/g, '\n').split('\n\n')
  return blocks
    .map((block) => {
      const data = /^data: ?(\{[^\n]*)/m.exec(block)?.[1]
      const json = data === undefined ? undefined : parseJson(data)
      return isJsonObject(json) ? thoughtIn(format, json) : ''
    })
    .join('')
}

function thoughtIn(format: FormatName, json: JsonObject): string {
  switch (format) {
    case 'chat-completions':
      return list(json.choices)
        .map(({ delta }) => (isJsonObject(delta) ? (textOf(delta.reasoning_content) ?? '') : ''))
        .join('')
    case 'messages':
      return isJsonObject(json.delta) ? (textOf(json.delta.thinking) ?? '') : ''
    case 'responses':
      return json.type === 'response.reasoning_summary_text.delta' ? (textOf(json.delta) ?? '') : ''
    case 'generate-content': {
      const parts = list(json.candidates).flatMap(({ content }) => (isJsonObject(content) ? list(content.parts) : []))
      return parts.map((part) => (part.thought === true ? (textOf(part.text) ?? '') : '')).join('')
    }
  }
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
