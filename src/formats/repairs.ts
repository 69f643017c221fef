/** Repairs of passed-through answers, counted per provider, named after the field; `event` is the line with an event's name in a stream. */
export const REPAIRS = [
  'annotations',
  'arguments',
  'choices',
  'content',
  'created',
  'delta',
  'event',
  'finish_reason',
  'id',
  'index',
  'item',
  'logprobs',
  'object',
  'output',
  'role',
  'status',
  'summary',
  'tool_calls',
  'type',
  'usage',
] as const
export type Repair = (typeof REPAIRS)[number]
