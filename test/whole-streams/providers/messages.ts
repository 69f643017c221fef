/** A script as a messages provider streams it: interleaved calls have blocks that are open beside each other. */
import type { Random } from '@test/fuzz/random'
import type { Script, Step } from '@test/whole-streams/script'

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream',
  stop_reason: null,
  stop_sequence: null,
}

/** Some send pings on the way. */
export function messageEvents({ steps, calls }: Script, random: Random): string[] {
  const pings = random.once(2)
  const message = { ...MESSAGE, content: [], usage: { input_tokens: 20, output_tokens: 1 } }
  const stop = { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }
  return [
    event({ type: 'message_start', message }),
    ...(pings ? [event({ type: 'ping' })] : []),
    ...blocks(steps, calls).flatMap((block) => (pings && random.once(50) ? [event({ type: 'ping' }), block] : [block])),
    event({ type: 'message_delta', delta: stop, usage: { output_tokens: 8 } }),
    event({ type: 'message_stop' }),
  ]
}

type Open = { kind: Step['kind']; index: number }

function blocks(steps: readonly Step[], calls: Script['calls']): string[] {
  const lastOf = new Map(steps.map((step, place) => [step.kind === 'call' ? step.call : -1, place]))
  const openCalls = new Map<number, number>()
  let text: Open | undefined
  let count = 0

  function begin(block: object): string {
    return event({ type: 'content_block_start', index: count++, content_block: block })
  }

  function closeText(): string[] {
    if (!text) return []
    const { kind, index } = text
    text = undefined
    const signed = event({
      type: 'content_block_delta',
      index,
      delta: { type: 'signature_delta', signature: 'c2lnbmVk' },
    })
    return [...(kind === 'reasoning' ? [signed] : []), event({ type: 'content_block_stop', index })]
  }

  function pushText(kind: Step['kind'], piece: string): string[] {
    const before = text?.kind === kind ? [] : closeText()
    const isThought = kind === 'reasoning'
    if (!text) {
      text = { kind, index: count }
      before.push(begin(isThought ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' }))
    }
    const delta = isThought ? { type: 'thinking_delta', thinking: piece } : { type: 'text_delta', text: piece }
    return [...before, event({ type: 'content_block_delta', index: text.index, delta })]
  }

  function pushCall(call: number, piece: string, isLast: boolean): string[] {
    const events = closeText()
    const index = openCalls.get(call) ?? count
    if (!openCalls.has(call)) {
      openCalls.set(call, index)
      const { id, name } = calls[call] ?? {}
      events.push(begin({ type: 'tool_use', id: `toolu_${id}`, name, input: {} }))
    }
    events.push(event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: piece } }))
    if (isLast) events.push(event({ type: 'content_block_stop', index }))
    return events
  }

  const told = steps.flatMap((step, place) =>
    step.kind === 'call'
      ? pushCall(step.call, step.text, lastOf.get(step.call) === place)
      : pushText(step.kind, step.text),
  )
  return [...told, ...closeText()]
}

function event(body: { type: string; [field: string]: unknown }): string {
  return `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
}
