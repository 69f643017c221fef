/** How much longer schemas may get where a provider knows no references, and each has to be written out wherever it is used. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'

/** All schemas of a request together may be so many times their size when they are written out. */
const MAX_GROWTH = 2
/** And so many bytes more: what small ones need. */
const ALLOWANCE_BYTES = 8_192

/** The rest of the budget for all schemas of one request. `work` limits the visited nodes, `bytes` the result. */
export type SchemaBudget = { work: number; bytes: number }

/** The budget for the schemas of `request`. */
export function schemaBudget({ tools, output }: Pick<ChatRequest, 'tools' | 'output'>): SchemaBudget {
  let own = output.type === 'json-schema' ? jsonBytes(output.schema) : 0
  for (const { parameters } of tools) if (parameters) own += jsonBytes(parameters)
  const bytes = own + grownBytes(own)
  return { work: bytes * 2, bytes }
}

/** The most bytes by which schemas of so many get longer. */
export function grownBytes(own: number): number {
  return own === 0 ? 0 : own * (MAX_GROWTH - 1) + ALLOWANCE_BYTES
}

/** Throws `invalid_request` where the budget does not pay for so much work. */
export function spend(budget: SchemaBudget, work: number): void {
  budget.work -= work
  if (budget.work < 0) throw tooLong()
}

/** The written schema. Throws `invalid_request` where the budget does not pay for its bytes. */
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
