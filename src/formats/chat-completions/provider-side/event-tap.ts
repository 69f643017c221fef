import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { type SseEvent, SseParser } from '@/lib/streams/sse'

/** Reads the JSON objects of an event stream while its bytes are relayed. Other events are ignored. */
export class EventTap {
  private readonly parser = new SseParser()

  push(bytes: Uint8Array): JsonObject[] {
    return objectsOf(this.parser.push(bytes))
  }

  end(): JsonObject[] {
    return objectsOf(this.parser.end())
  }
}

function objectsOf(events: readonly SseEvent[]): JsonObject[] {
  return events.flatMap(({ data }) => {
    const json = data === undefined ? undefined : parseJson(data)
    return isJsonObject(json) ? [json] : []
  })
}
