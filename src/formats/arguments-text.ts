/** Arguments of calls come as JSON in a text, which is parsed where a provider wants them as an object: how much of it a request may hold. */
import { invalidRequest } from '@/chat/error'
import { TEXT_BOUNDS } from '@/lib/json'
import { inspectJson } from '@/lib/json-source/scan'

/** What was read of one request's arguments so far. */
export type ArgumentsRead = { chars: number; values: number }

/** Throws `invalid_request` that names `field` where the text holds more than is parsed; `maxChars` is for all together. */
export function checkArguments(text: string, field: string, read: ArgumentsRead, maxChars: number): string {
  read.chars += text.length
  if (read.chars > maxChars) {
    throw invalidRequest(`${field}: all arguments together exceed ${maxChars} characters`, field)
  }
  const { depth, values, names } = TEXT_BOUNDS
  // Each level takes two brackets, each value a character and what parts it from the next.
  if (text.length <= 2 * depth && read.chars <= 2 * values) return text
  const found = inspectJson(text, TEXT_BOUNDS)
  read.values += found.values
  if (found.breach === 'depth') throw invalidRequest(`${field} is nested deeper than ${depth} levels`, field)
  if (found.breach === 'names') throw invalidRequest(`${field} has more than ${names} different names of fields`, field)
  if (found.breach !== undefined || read.values > values) {
    throw invalidRequest(`${field}: all arguments together hold more than ${values} values`, field)
  }
  return text
}
