/** What a strict reader hands back, and the small tools that all three readers share. */
import type { Seen, SeenError } from '@test/matrix/types'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

/** An answer as read: what it says, or the error it ends in, and every rule of its format that its bytes break. */
export type Reading = { seen: Seen; error: SeenError | undefined; complaints: string[] }

/** What the reader is told of the request: the public model id, and whether the usage chunk was asked for. */
export type ReadContext = { model: string; isRaw: boolean }

export interface Reader {
  readWhole(body: JsonValue | undefined, context: ReadContext): Reading
  /** `text` is the whole body of an event stream (or JSON array), as it came over the wire. */
  readStream(text: string, context: ReadContext): Reading
  /** The message of an error answer; undefined if the body has not the format's shape. */
  readError(status: number, body: JsonValue | undefined): string | undefined
}

/** One block of an event stream, split by the client libraries' rules and no more forgiving than they are. */
export type WireEvent = { event: string | undefined; data: string; json: JsonObject | undefined }

/** An answer that says nothing yet. */
export function nothing(): Seen {
  return {
    text: '',
    reasoning: '',
    calls: [],
    finish: 'failed',
    usage: { input: -1, cacheRead: 0, cacheWrite: undefined, output: -1, reasoning: 0 },
    others: [],
    images: [],
  }
}

/** Splits an event stream into its events; comments are left out, and anything else unexpected is a complaint. */
export function splitEvents(text: string, complaints: string[], allowsEventLines: boolean): WireEvent[] {
  const blocks = text.replace(/\r\n?/g, '\n').split('\n\n')
  if (blocks.pop() !== '') complaints.push('the last event is not closed by a blank line')
  return blocks.flatMap((block) => {
    const lines = block.split('\n')
    if (lines.every((line) => line.startsWith(':'))) return []
    const events = lines.filter((line) => line.startsWith('event:'))
    const data = lines.filter((line) => line.startsWith('data:'))
    if (data.length !== 1) complaints.push(`an event has ${data.length} data lines`)
    if (events.length > 0 && !allowsEventLines) complaints.push('an event has a name')
    if (lines.length !== events.length + data.length) complaints.push(`an event has odd lines: ${block.slice(0, 80)}`)
    const value = (data[0] ?? '').slice('data:'.length).trimStart()
    const json = parseJson(value)
    return [{ event: events[0]?.slice('event:'.length).trim(), data: value, json: asObject(json) }]
  })
}

/** The value where it is an object. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

/** The objects of a list; none if it is no list. */
export function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** The value where it is a text, else ''. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The value where it is a count, else 0. */
export function countOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

/** Call ids must exist, differ, and be what every provider takes back. */
export function checkCallIds(ids: readonly string[], complaints: string[]): void {
  for (const id of ids) if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) complaints.push(`call id ${JSON.stringify(id)}`)
  if (new Set(ids).size !== ids.length) complaints.push(`call ids repeat: ${ids.join(', ')}`)
}
