/** The typed client of the dashboard's routes, derived from the server's own definition of them. */
import { treaty } from '@elysiajs/eden'
import type { DashboardApi } from '@/console/http/routes'
import { textOf } from '@/lib/json'

/** Every route below `/dashboard/api`; wrap each call in {@link answer}. Moments stay texts. */
export const api = treaty<DashboardApi>(window.location.origin, { parseDate: false }).dashboard.api

/** What the server refused, in its words: `message` is for the person, `param` names the field, `code` is for programs. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    message: string,
    readonly status: number,
    readonly code?: string,
    readonly param?: string,
  ) {
    super(message)
  }
}

/** What a call of the client is answered. */
export type DataOf<Call extends (...args: never[]) => Promise<{ data: unknown }>> = NonNullable<
  Awaited<ReturnType<Call>>['data']
>

type Reply<Data> = { data: Data; error: unknown; status: number }
const UNREACHABLE = 'The service could not be reached. Check your connection and try again.'

/** The data of a reply; throws an {@link ApiError} where the server refused or could not be reached. */
export async function answer<Data>(reply: Promise<Reply<Data>>): Promise<NonNullable<Data>> {
  const { data, error, status } = await reply.catch(() => ({ data: null, error: UNREACHABLE, status: 0 }))
  if (error) throw toApiError(error, status)
  return data as NonNullable<Data>
}

/** The error of a reply of another origin than the typed client, e.g. of a stream. */
export function toApiError(error: unknown, status: number): ApiError {
  const value = typeof error === 'object' && error !== null && 'value' in error ? error.value : error
  const told = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  if (typeof told !== 'object' || told === null) return new ApiError(UNREACHABLE, status)
  const { message, code, param } = told as { message?: unknown; code?: unknown; param?: unknown }
  return new ApiError(String(message ?? UNREACHABLE), status, textOf(code), textOf(param))
}

const KEY_BYTES = 16

/** A name for a request that is to happen once, however often it is sent. */
export function newRequestKey(): string {
  // There is no randomUUID where the page was not loaded over a secure connection.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
