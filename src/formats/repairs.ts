/** Names of the repairs of passed-through answers, counted per provider: the repaired field, or `event` for an event's name line. */
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
