/** Requests of pages to the dashboard's routes, and the errors of their answers. */
import { textOf } from '@/lib/json'

/** Changes (by method, URL and body) whose answer was lost. Repeating such a change sends the same request key. */
const unanswered = new Map<string, { key: string; reply?: Promise<Response> }>()

/** Sends a change with a request key: the server makes it once. A repeated request gets the first one's response, or waits for it. */
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
    /** After a conflict with a newer version: the object's present value. */
    readonly newer?: Versioned<unknown>,
  ) {
    super(message)
  }
}

const UNREACHABLE = 'The service could not be reached. Check your connection and try again.'

type Sent = { body?: object | undefined; ifMatch?: string | undefined }

/** Sends a request. Returns the response's value and version. Throws an {@link ApiError} if the server refused or was unreachable. */
export async function send(method: string, path: string, { body, ifMatch }: Sent = {}): Promise<Versioned<unknown>> {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
  }
  const { response, value } = await fetchOnce(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    .then(async (response) => ({ response, value: (await response.json()) as unknown }))
    .catch(() => {
      throw new ApiError(UNREACHABLE, 0)
    })
  const etag = response.headers.get('etag') ?? undefined
  if (!response.ok) throw toApiError(value, response.status, etag)
  return { value, etag }
}

/** Turns the body of an error response into an {@link ApiError}. */
export function toApiError(value: unknown, status: number, etag?: string): ApiError {
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
