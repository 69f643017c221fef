/** Streams of responses on their way through, and what the library of the format's vendor, the strictest reader there is, makes of them. */
import { passHooks } from '@test/formats/pass-hooks'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { passThrough } from '@/formats/responses/pass-through'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { CONTEXT } from './support'

/** What a client is sent of these events, as values. */
export function pass(list: readonly (JsonObject | string)[], context = CONTEXT) {
  const hooks = passHooks({ uncached: 2, output: 1 })
  const stream = passThrough.createStream(context, hooks)
  const sent = list.flatMap((one) => {
    const data = typeof one === 'string' ? one : JSON.stringify(one)
    const json = parseJson(data)
    const missing = (stream.before?.(json) ?? []).map((frame) => frame.data)
    const told = stream.event(data, json)
    return told === undefined ? missing : [...missing, told]
  })
  return { sent, events: sent.map((data) => parseJson(data)).filter(isJsonObject), repairs: hooks.repairs }
}

/** What the library of the format's vendor makes of a stream, or throws. */
export function readByLibrary(events: readonly JsonObject[]) {
  const lines = events.map((one) => `${JSON.stringify(one)}\n`).join('')
  return ResponseStream.fromReadableStream(new Response(lines).body as ReadableStream).finalResponse()
}
