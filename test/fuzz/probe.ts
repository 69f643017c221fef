/** One request of the fuzzer: sent as it is, read to the end, and judged. */
import { faultsOf } from './judge'
import type { FuzzUser, World } from './world'

export type Probe = {
  name: string
  method: string
  path: string
  headers: Record<string, string>
  body?: string
  /** Who asks; undefined for a stranger. */
  user?: FuzzUser
  /** Nothing good may come of it: it is about what belongs to others. */
  isForbidden?: boolean
}

const PATIENCE_MS = 30_000
/** Streams that never end by themselves are left after this. */
const READ_MS = 3_000

/** Sends the probe. Returns what is wrong with the answer. */
export async function send(world: World, probe: Probe): Promise<string[]> {
  const { method, path, headers, body, user } = probe
  const others = world.users.filter((other) => other !== user)
  const forbidden = [
    ...world.secrets,
    ...others.flatMap(({ key, cookie }) => [key, cookie.slice(cookie.indexOf('=') + 1)]),
  ]
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD'
  const request = { method, headers, signal, redirect: 'manual' as const, ...(hasBody && { body }) }
  try {
    const response = await fetch(world.url + path, request)
    const text = await readFor(response, READ_MS)
    const expected = { path: path.split('?', 1)[0] ?? path, forbidden, mayBeTaken: probe.isForbidden !== true }
    return faultsOf({ status: response.status, headers: response.headers, text }, expected)
  } catch (error) {
    return isRefusedConnection(error) ? [] : [`no answer: ${error}`]
  }
}

/** A request that no parser takes is answered by closing. */
function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && /ECONNRESET|closed unexpectedly|Invalid|invalid|Malformed/.test(`${error}`)
}

async function readFor(response: Response, milliseconds: number): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  const timer = setTimeout(() => void reader.cancel(), milliseconds)
  let text = ''
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += decoder.decode(chunk.value)
  } catch {
    // What has come is what there is to judge.
  }
  clearTimeout(timer)
  return text
}
