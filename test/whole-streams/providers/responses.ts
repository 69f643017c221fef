/** A script as a responses provider streams it: interleaved calls are items that are open beside each other. */
import type { Random } from '@test/fuzz/random'
import type { Script, Step } from '@test/whole-streams/script'

const RESPONSE = {
  ...{
    id: 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    model: 'upstream',
    error: null,
    incomplete_details: null,
  },
  ...{
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
  },
}
const USAGE = {
  ...{ input_tokens: 20, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 8, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 28 },
}

type Kind = Step['kind']
type Item = { kind: Kind; place: number; text: string; call: Script['calls'][number] | undefined }
type Event = { type: string; [field: string]: unknown }

/** Some pad each delta, as OpenAI does. */
export function responseEvents({ steps, calls }: Script, random: Random): string[] {
  const isPadded = random.once(2)
  const lastOf = new Map(steps.map((step, place) => [step.kind === 'call' ? step.call : -1, place]))
  const items: Item[] = []
  const callItems = new Map<number, Item>()
  let current: Item | undefined

  function open(kind: Kind, call?: Script['calls'][number]): { item: Item; events: Event[] } {
    const item: Item = { kind, place: items.length, text: '', call }
    items.push(item)
    return { item, events: opening(item) }
  }

  function push(item: Item, text: string): Event {
    item.text += text
    const padding = isPadded && { obfuscation: 'x'.repeat(random.below(9)) }
    return {
      type: DELTAS[item.kind],
      ...placeOf(item),
      delta: text,
      ...(item.kind === 'text' && { logprobs: [] }),
      ...padding,
    }
  }

  function closeCurrent(): Event[] {
    const events = current ? closing(current) : []
    current = undefined
    return events
  }

  function told(step: Step, place: number): Event[] {
    if (step.kind !== 'call') {
      const before = current?.kind === step.kind ? [] : closeCurrent()
      if (!current) {
        const { item, events } = open(step.kind)
        current = item
        before.push(...events)
      }
      return [...before, push(current, step.text)]
    }
    const before = closeCurrent()
    const known = callItems.get(step.call)
    const { item, events } = known ? { item: known, events: [] } : open('call', calls[step.call])
    callItems.set(step.call, item)
    const ends = lastOf.get(step.call) === place
    const delta = push(item, step.text)
    return [...before, ...events, delta, ...(ends ? closing(item) : [])]
  }

  const begun = { ...RESPONSE, status: 'in_progress', output: [], usage: null }
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...steps.flatMap(told),
    ...closeCurrent(),
  ]
  const output = items.map((item) => whole(item, 'completed'))
  events.push({ type: 'response.completed', response: { ...RESPONSE, status: 'completed', output, usage: USAGE } })
  return events.map((event, sequence_number) => {
    return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
  })
}

const DELTAS: Record<Kind, string> = {
  text: 'response.output_text.delta',
  refusal: 'response.refusal.delta',
  reasoning: 'response.reasoning_summary_text.delta',
  call: 'response.function_call_arguments.delta',
}
const DONE: Record<Kind, [type: string, field: string]> = {
  text: ['response.output_text.done', 'text'],
  refusal: ['response.refusal.done', 'refusal'],
  reasoning: ['response.reasoning_summary_text.done', 'text'],
  call: ['response.function_call_arguments.done', 'arguments'],
}

function placeOf({ kind, place }: Item): object {
  const inside = {
    text: { content_index: 0 },
    refusal: { content_index: 0 },
    reasoning: { summary_index: 0 },
    call: {},
  }
  return { item_id: idOf(kind, place), output_index: place, ...inside[kind] }
}

function idOf(kind: Kind, place: number): string {
  return `${{ text: 'msg', refusal: 'msg', reasoning: 'rs', call: 'fc' }[kind]}_${place}`
}

function opening(item: Item): Event[] {
  const added = { type: 'response.output_item.added', output_index: item.place, item: whole(item, 'in_progress') }
  if (item.kind === 'call') return [added]
  return [added, { type: partEvent(item, 'added'), ...placeOf(item), part: partOf(item.kind, '') }]
}

function closing(item: Item): Event[] {
  const [type, field] = DONE[item.kind]
  const said = { type, ...placeOf(item), [field]: item.text, ...(item.kind === 'text' && { logprobs: [] }) }
  const part = { type: partEvent(item, 'done'), ...placeOf(item), part: partOf(item.kind, item.text) }
  const done = { type: 'response.output_item.done', output_index: item.place, item: whole(item, 'completed') }
  return item.kind === 'call' ? [said, done] : [said, part, done]
}

function partEvent({ kind }: Item, what: 'added' | 'done'): string {
  return kind === 'reasoning' ? `response.reasoning_summary_part.${what}` : `response.content_part.${what}`
}

function partOf(kind: Kind, text: string): object {
  if (kind === 'reasoning') return { type: 'summary_text', text }
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] }
}

function whole({ kind, place, text, call }: Item, status: string): object {
  const id = idOf(kind, place)
  const parts = text === '' ? [] : [partOf(kind, text)]
  if (kind === 'call')
    return { id, type: 'function_call', status, call_id: call?.id, name: call?.name, arguments: text }
  if (kind === 'reasoning') return { id, type: 'reasoning', summary: parts }
  return { id, type: 'message', status, role: 'assistant', content: parts }
}
