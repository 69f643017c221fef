/** Limits how much schemas grow if references must be replaced by copies, for providers without references. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'

/** All schemas of a request together may grow to this factor of their size, plus the allowance. */
const MAX_GROWTH = 2
const ALLOWANCE_BYTES = 8_192

/** The remaining budget for all schemas of one request. `work` limits the visited nodes, `bytes` the result's size. */
export type SchemaBudget = { work: number; bytes: number }

/** The budget for the schemas of `request`. */
export function schemaBudget({ tools, output }: Pick<ChatRequest, 'tools' | 'output'>): SchemaBudget {
  let own = output.type === 'json-schema' ? jsonBytes(output.schema) : 0
  for (const { parameters } of tools) if (parameters) own += jsonBytes(parameters)
  const bytes = own + grownBytes(own)
  return { work: bytes * 2, bytes }
}

/** Maximum growth in bytes of schemas that have `own` bytes. */
export function grownBytes(own: number): number {
  return own === 0 ? 0 : own * (MAX_GROWTH - 1) + ALLOWANCE_BYTES
}

/** Takes `work` from the budget. Throws `invalid_request` if less remains. */
export function spend(budget: SchemaBudget, work: number): void {
  budget.work -= work
  if (budget.work < 0) throw tooLong()
}

/** Takes the bytes of `written` from the budget, and returns `written`. Throws `invalid_request` if less remains. */
export function paidFor(written: JsonObject, budget: SchemaBudget): JsonObject {
  budget.bytes -= jsonBytes(written)
  if (budget.bytes < 0) throw tooLong()
  return written
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function tooLong() {
  return invalidRequest(
    `The provider of this model takes no references in schemas, and written out those of this request are more than ${MAX_GROWTH} times as long (and ${ALLOWANCE_BYTES} bytes): use fewer references and alternatives`,
    'tools',
  )
}
