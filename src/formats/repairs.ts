/** The repairs of answers on their way through, by name: what is counted of each provider. */

/** What had to be corrected, by the field at fault; `event` is the line that names an event of a stream. */
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
