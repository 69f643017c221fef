/** The requests of a provider's trial: a small one for each capability of a model, with its right answer. */
import type { Capability } from '@/catalog/types'
import type { ChatRequest, UserBlock } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import { isJsonObject, parseJson } from '@/lib/json'

export const PROBE_NAMES = ['text', 'stream', 'tools', 'images', 'schema'] as const
export type ProbeName = (typeof PROBE_NAMES)[number]

export type Probe = {
  name: ProbeName
  needs?: Capability
  /** The request, without its output limit. */
  asks: Pick<ChatRequest, 'stream' | 'turns' | 'tools' | 'output'> & Pick<Partial<ChatRequest>, 'toolChoice'>
  /** The answer's fault as text; undefined if the answer is right. */
  fault(response: ChatResponse): string | undefined
}

/** 64 by 64 pixels, all red. */
const RED_PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC'

const GREETING = 'Reply with the one word "ok".'
const TOOL = {
  name: 'note_number',
  description: 'Notes a number.',
  parameters: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
}
const SCHEMA = {
  type: 'object',
  properties: { sum: { type: 'integer' } },
  required: ['sum'],
  additionalProperties: false,
}

export const PROBES: readonly Probe[] = [
  { name: 'text', asks: asking(GREETING), fault: withoutText },
  { name: 'stream', asks: { ...asking(GREETING), stream: true }, fault: withoutText },
  {
    name: 'tools',
    needs: 'tools',
    asks: { ...asking('Note the number 7.'), tools: [TOOL], toolChoice: { type: 'required' } },
    fault: (response) => {
      const call = blocksOf(response).find((block) => block.type === 'tool-call')
      if (call?.type !== 'tool-call') return 'no call of the tool'
      const isWhole = call.name === TOOL.name && isJsonObject(parseJson(call.argumentsText))
      return isWhole ? undefined : 'a call with another name, or without arguments'
    },
  },
  {
    name: 'images',
    needs: 'images',
    asks: asking('Which colour has this picture? Reply with one English word.', {
      type: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: RED_PICTURE },
    }),
    fault: (response) => (/red/i.test(textOf(response)) ? undefined : 'does not name the colour of the picture'),
  },
  {
    name: 'schema',
    needs: 'json-schema',
    asks: {
      ...asking('What is 2 plus 3?'),
      output: { type: 'json-schema', schema: SCHEMA, name: 'sum', strict: true },
    },
    fault: (response) => {
      const answer = parseJson(textOf(response))
      return isJsonObject(answer) && Number.isInteger(answer.sum) ? undefined : 'is not of the schema'
    },
  },
]

function asking(text: string, ...more: UserBlock[]): Probe['asks'] {
  return {
    stream: false,
    turns: [{ role: 'user', content: [...more, { type: 'text', text }] }],
    tools: [],
    output: { type: 'text' },
  }
}

function withoutText(response: ChatResponse): string | undefined {
  return textOf(response).trim() === '' ? 'no text' : undefined
}

function textOf(response: ChatResponse): string {
  return blocksOf(response)
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
}

function blocksOf(response: ChatResponse) {
  return response.choices.flatMap(({ content }) => content)
}
