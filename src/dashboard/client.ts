/** The typed client of the dashboard's routes, derived from the server's types. */
import { treaty } from '@elysiajs/eden'
import type { DashboardApi } from '@/console/http/routes'
import { textOf } from '@/lib/json'

/** All routes below `/dashboard/api`; wrap each call in {@link answer}. Dates stay texts. */
export const api = treaty<DashboardApi>(window.location.origin, {
  parseDate: false,
  fetcher: fetchOnce as typeof fetch,
}).dashboard.api

/** Changes (by method, URL and body) whose answer was lost. Repeating such a change sends the same request key. */
const unanswered = new Map<string, { key: string; reply?: Promise<Response> }>()

/** Sends a change with a request key: the server makes it once, a repetition gets its response, a second press waits for it. */
async function fetchOnce(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET', body } = init
  // Passwords must not be stored here, and session routes have no request keys.
  const isSession = String(input).includes('/dashboard/api/session')
  if (method === 'GET' || isSession || (body !== undefined && typeof body !== 'string')) return fetch(input, init)
  const change = `${method} ${input} ${body ?? ''}`
  const known = unanswered.get(change) ?? { key: newRequestKey() }
  unanswered.set(change, known)
  const headers = new Headers(init.headers)
  headers.set('idempotency-key', known.key)
  known.reply ??= fetch(input, { ...init, headers })
  const { reply } = known
  try {
    const response = await reply
    if (await isAnswer(response.clone())) unanswered.delete(change)
    return response.clone()
  } finally {
    delete known.reply
  }
}

/** An object as the server shows it, and its version. */
export type Versioned<Value> = { value: Value; etag: string | undefined }

export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    message: string,
    readonly status: number,
    readonly code?: string,
    readonly param?: string,
    /** What is there now, where a change met a newer version. */
    readonly newer?: Versioned<unknown>,
  ) {
    super(message)
  }
}

export type DataOf<Call extends (...args: never[]) => Promise<{ data: unknown }>> = NonNullable<
  Awaited<ReturnType<Call>>['data']
>

type Reply<Data> = { data: Data; error: unknown; status: number; etag?: string | undefined }
const UNREACHABLE = 'The service could not be reached. Check your connection and try again.'

/** The data of a response; throws an {@link ApiError} if the server refused or was unreachable. */
export async function answer<Data>(reply: Promise<Reply<Data>>): Promise<NonNullable<Data>> {
  const unreachable = { data: null, error: UNREACHABLE, status: 0, etag: undefined }
  const { data, error, status, etag } = await reply.catch(() => unreachable)
  if (error) throw toApiError(error, status, etag)
  return data as NonNullable<Data>
}

type Sent = { body?: object | undefined; ifMatch?: string | undefined }

/** Sends a request to a route that the typed client lacks. Returns its answer with the version; throws like {@link answer}. */
export async function send(method: string, path: string, { body, ifMatch }: Sent): Promise<Versioned<unknown>> {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
  }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const reply = fetchOnce(path, init).then(async (response) => {
    const value: unknown = await response.json()
    const { ok, status } = response
    const etag = response.headers.get('etag') ?? undefined
    return ok ? { data: { value, etag }, error: null, status } : { data: null, error: value ?? {}, status, etag }
  })
  return await answer(reply)
}

/** Turns an error response, also one received without the typed client, into an {@link ApiError}. */
export function toApiError(error: unknown, status: number, etag?: string): ApiError {
  const value = typeof error === 'object' && error !== null && 'value' in error ? error.value : error
  const told = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  if (typeof told !== 'object' || told === null) return new ApiError(UNREACHABLE, status)
  const { message, code, param, current } = told as Record<'message' | 'code' | 'param' | 'current', unknown>
  const newer = current === undefined ? undefined : { value: current, etag }
  return new ApiError(String(message ?? UNREACHABLE), status, textOf(code), textOf(param), newer)
}

const FIRST_SERVER_ERROR = 500

/** Whether a response reveals the outcome of a change. After a server error the change may have been made, or still be in progress. */
async function isAnswer(response: Response): Promise<boolean> {
  if (response.status !== 409) return response.status < FIRST_SERVER_ERROR
  return toApiError(await response.json().catch(() => undefined), 409).code !== 'idempotency_key_in_use'
}

const KEY_BYTES = 16

/** A random key for a request that must happen only once. */
export function newRequestKey(): string {
  // `randomUUID` only exists on pages loaded over a secure connection.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
