/** A provider that can do all that a trial asks for, in any format, unless it is told not to. */
import { type Respond, type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import type { ChatEvent } from '@/chat/event'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

const USAGE = { uncached: 20, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 4, reasoning: 0 }

/** What it answers instead of its usual answer; undefined if it answers as usual. */
type Answers = (request: ChatRequest, path: string) => ChatResponse | Response | undefined

/** `answers` may say another answer, or fail, instead. */
export function startAbleProvider(name: FormatName, answers: Answers = () => undefined): ScriptedUpstream {
  return startUpstream(ableRespond(name, answers))
}

/** The script of such a provider. */
export function ableRespond(name: FormatName, answers: Answers = () => undefined): Respond {
  const format = FORMATS.get(name)
  assert(format, 'a format')
  return ({ path, body }) => {
    // Where the path says it, the body doesn't.
    const isStream = path.includes('stream') || body.stream === true
    const request = format.decodeRequest(body as JsonObject, { model: 'm', stream: isStream })
    const answer = answers(request, path) ?? ableAnswer(request)
    if (answer instanceof Response) return answer
    const context = {
      ...{ id: 'answer_1', model: 'm', created: 1, wantsUsage: true, wantsReasoning: true, estimatedInputTokens: 1 },
    }
    if (!isStream) return Response.json(format.encodeResponse(answer, context))
    const encoder = format.createStreamEncoder(context)
    const frames = [...eventsOf(answer).flatMap((event) => encoder.push(event)), ...encoder.end()]
    const text = frames.map((frame, index) => format.framing.format(frame, index)).join('')
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  }
}

/** An answer of `block` alone. */
export function answerOf(block: AnswerBlock, usage: ChatResponse['usage'] = USAGE): ChatResponse {
  const kind = block.type === 'tool-call' ? 'tool-calls' : 'stop'
  return { id: 'a', created: 1, model: 'm', choices: [{ index: 0, content: [block], finish: { kind } }], usage }
}

function ableAnswer({ tools, output, turns }: ChatRequest): ChatResponse {
  if (tools.length > 0) {
    return answerOf({ type: 'tool-call', id: 'call_1', name: 'note_number', argumentsText: '{"number":7}' })
  }
  if (output.type === 'json-schema') return answerOf({ type: 'text', text: '{"sum":5}' })
  const hasPicture = turns.some(({ content }) => content.some(({ type }) => type === 'image'))
  return answerOf({ type: 'text', text: hasPicture ? 'Red.' : 'ok' })
}

function eventsOf({ choices, usage }: ChatResponse): ChatEvent[] {
  const [block] = choices[0]?.content ?? []
  const place = { choice: 0, block: 0 }
  const text = block?.type === 'text' ? block.text : ''
  return [
    { type: 'start', id: 'a', model: 'm', created: 1 },
    { type: 'text-start', ...place },
    { type: 'text-delta', ...place, text },
    { type: 'text-end', ...place },
    { type: 'finish', choice: 0, finish: { kind: 'stop' } },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ]
}
