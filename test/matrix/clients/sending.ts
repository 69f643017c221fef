/** How a cell's client sends: the newest library of its family, with every byte of the answer kept for the strict reader. */
import type { Finish, Mode, SeenCall } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'

export type Sending = { baseUrl: string; key: string; model: string; mode: Mode; body: JsonObject }

/** What the library made of the answer. */
export type LibraryView =
  | { kind: 'answer'; text: string; calls: SeenCall[]; finish: Finish }
  | { kind: 'failed'; status: number | undefined; message: string }

/** The answer as it came over the wire, and as the library understood it; `view` is absent where no library reads the mode. */
export type Sent = { status: number; headers: Headers; text: string; view: LibraryView | undefined }

export interface MatrixClient {
  send(sending: Sending): Promise<Sent>
}

type Recorded = { status: number; headers: Headers; text: string }

/** A `fetch` that keeps the last answer whole; `replaceBody` stands in for a library that rebuilds what it is given. */
export function recordingFetch(replaceBody?: () => JsonObject) {
  let recorded: Recorded = { status: 0, headers: new Headers(), text: '' }
  async function record(input: string | URL | Request, options?: RequestInit): Promise<Response> {
    const body = replaceBody ? JSON.stringify(replaceBody()) : options?.body
    const response = await fetch(input, { ...options, ...(body && { body }) })
    const text = await response.text()
    recorded = { status: response.status, headers: response.headers, text }
    return new Response(text, { status: response.status, headers: response.headers })
  }
  return { fetch: record as typeof fetch, recorded: () => recorded }
}

/** Turns what a library throws into its view of the error. */
export async function viewOf(read: () => Promise<LibraryView>): Promise<LibraryView> {
  try {
    return await read()
  } catch (error) {
    const { status, message } = error as { status?: number; message: string }
    return { kind: 'failed', status, message }
  }
}
