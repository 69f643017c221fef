/** Our own labelled prompts, as requests. They judge the scorer, which is trained on none of them. */

import fixture from '@test/fixtures/routing/prompts.json'
import type { ChatRequest, Effort, Turn, UserBlock } from '@/chat/request'
import { requestOf } from './world'

type LabelledPrompt = {
  expected: 'easy' | 'hard'
  kind: string
  text: string
  request: ChatRequest
}

type PromptOptions = {
  tools?: number
  turns?: number
  schema?: boolean
  image?: boolean
  effort?: Effort
  document?: [kind: string, chars: number]
}

/** All prompts, for `model`. */
export function labelledPrompts(model: string): LabelledPrompt[] {
  return (['easy', 'hard'] as const).flatMap((expected) =>
    Object.entries(fixture[expected]).flatMap(([kind, group]) =>
      (group as [string, PromptOptions?][]).map(([text, options = {}]) => ({
        expected,
        kind,
        text,
        request: build(model, text, options),
      })),
    ),
  )
}

function build(model: string, text: string, options: PromptOptions): ChatRequest {
  const content: UserBlock[] = [{ type: 'text', text: withDocument(text, options.document) }]
  if (options.image) content.push({ type: 'image', source: { type: 'url', url: 'https://example.test/picture.png' } })
  return requestOf({
    model,
    turns: [...earlierTurns(options.turns ?? 0), { role: 'user', content }],
    tools: Array.from({ length: options.tools ?? 0 }, (_, index) => ({
      name: `tool_${index}`,
      description: 'Does one thing.',
      parameters: { type: 'object', properties: { value: { type: 'string' } } },
    })),
    output: options.schema ? { type: 'json-schema', schema: { type: 'object' } } : { type: 'text' },
    ...(options.effort && { reasoning: { effort: options.effort } }),
  })
}

function withDocument(text: string, document: PromptOptions['document']): string {
  if (!document) return text
  const [kind, chars] = document
  const paragraph = fixture.documents[kind as keyof typeof fixture.documents]
  return `${paragraph.repeat(Math.ceil(chars / paragraph.length)).slice(0, chars)}\n\n${text}`
}

function earlierTurns(count: number): Turn[] {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text: 'An earlier message.' }],
  }))
}
