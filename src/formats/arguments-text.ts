import { invalidRequest } from '@/chat/error'
import { TEXT_BOUNDS } from '@/lib/json'
import { inspectJson } from '@/lib/json-source/scan'

/** Characters and values of the tool call arguments checked so far in one request. */
export type ArgumentsRead = { chars: number; values: number }

/** Checks the size of a tool call's JSON arguments; `maxChars` limits all calls together. Throws `invalid_request` that names `field`. */
export function checkArguments(text: string, field: string, read: ArgumentsRead, maxChars: number): string {
  read.chars += text.length
  if (read.chars > maxChars) {
    throw invalidRequest(`${field}: all arguments together exceed ${maxChars} characters`, field)
  }
  const { depth, values, names } = TEXT_BOUNDS
  // A short text can't exceed the limits: each level of nesting takes two brackets, and each value two characters.
  if (text.length <= 2 * depth && read.chars <= 2 * values) return text
  const found = inspectJson(text, TEXT_BOUNDS)
  read.values += found.values
  if (found.breach === 'depth') throw invalidRequest(`${field} is nested deeper than ${depth} levels`, field)
  if (found.breach === 'names') throw invalidRequest(`${field} has more than ${names} different names of fields`, field)
  if (found.breach !== undefined || read.values > values) {
    throw invalidRequest(`${field}: all arguments together have more than ${values} values`, field)
  }
  return text
}
