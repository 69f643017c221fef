/** A script as a chat-completions provider streams it. */
import type { Random } from '@test/fuzz/random'
import type { Script, Step } from '@test/whole-streams/script'

const CHUNK = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'upstream' }
const USAGE = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 }
const FIELDS = { text: 'content', refusal: 'refusal', reasoning: 'reasoning_content' }

/** Some pad each chunk, as OpenAI does, and some count in each. */
export function chatEvents({ steps, calls }: Script, random: Random): string[] {
  const [isPadded, counts] = [random.once(3), random.once(3)]
  const begun = new Set<number>()
  let written = 0

  function chunk(delta: object, finish: string | null = null): string {
    const usage = counts ? { ...USAGE, completion_tokens: ++written, total_tokens: 20 + written } : null
    const padding = isPadded && { obfuscation: 'x'.repeat(random.below(9)) }
    return event({ ...CHUNK, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage, ...padding })
  }

  function told(step: Step): string[] {
    if (step.kind !== 'call') return [chunk({ [FIELDS[step.kind]]: step.text })]
    const { call: index, text } = step
    const fragment = chunk({ tool_calls: [{ index, function: { arguments: text } }] })
    if (begun.has(index)) return [fragment]
    begun.add(index)
    const { id, name } = calls[index] ?? {}
    const head = { index, id, type: 'function', function: { name, arguments: '' } }
    return [chunk({ tool_calls: [head] }), fragment]
  }

  return [
    chunk({ role: 'assistant', content: '' }),
    ...steps.flatMap(told),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    event({ ...CHUNK, choices: [], usage: { ...USAGE, completion_tokens: 8 + written, total_tokens: 28 + written } }),
    'data: [DONE]\n\n',
  ]
}

function event(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`
}
