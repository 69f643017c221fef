/** Probes of every operation that the gateway documents: by strangers and by its five users, with input of all kinds. */
import SwaggerParser from '@apidevtools/swagger-parser'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { nastyValue, PROTOTYPE_NAMES, valueFor } from './generate'
import type { Probe } from './probe'
import type { Random } from './random'
import type { FuzzUser, World } from './world'

type Operation = { method: string; path: string; parameters: JsonObject[]; body: JsonValue | undefined }

const MODELS = ['svc/alpha', 'svc/chat-completions', 'svc/messages', 'svc/generate-content', 'auto-smart']
/** What a session would not survive. */
const ENDS_SESSION = /session\/(sign-out|sessions|password\/change)/

/** Every operation of the document at `/docs/json?internal=true`. */
export async function readOperations(world: World): Promise<Operation[]> {
  const document = await SwaggerParser.dereference(await (await fetch(`${world.url}/docs/json?internal=true`)).json())
  return Object.entries(document.paths as Record<string, JsonObject>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      if (!isJsonObject(operation)) return []
      const content = isJsonObject(operation.requestBody) ? operation.requestBody.content : undefined
      const json = isJsonObject(content) ? content['application/json'] : undefined
      const parameters = Array.isArray(operation.parameters) ? operation.parameters.filter(isJsonObject) : []
      return [{ method: method.toUpperCase(), path, parameters, body: isJsonObject(json) ? json.schema : undefined }]
    }),
  )
}

/** A probe of `operation` with input of `random`. */
export function probeOf(operation: Operation, world: World, random: Random): Probe {
  const { method } = operation
  const endsSession = ENDS_SESSION.test(operation.path)
  const user = random.once(8) || endsSession ? undefined : random.pick(world.users)
  const path = fillPath(operation, user, world, random) + queryOf(operation, random)
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(operation, random)
  const headers = { ...credentials(world, user), ...contentType(random), ...oddHeaders(random) }
  return { name: `${method} ${operation.path}`, method, path, headers, ...(user && { user }), ...(body && { body }) }
}

/** Each operation that names something, asked by one of the users about what is another's. */
export function crossProbes(operations: readonly Operation[], world: World): Probe[] {
  return operations.flatMap((operation) => {
    if (!operation.path.startsWith('/dashboard/api/') || !operation.path.includes('{')) return []
    return world.users.map((user, index): Probe => {
      const victim = world.users[(index + 1) % world.users.length] ?? user
      const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => idOf(name, victim))
      const headers = { ...credentials(world, user), 'content-type': 'application/json' }
      const name = `${operation.method} ${operation.path} of somebody else`
      return { name, method: operation.method, path, headers, body: '{}', user, isForbidden: true }
    })
  })
}

/** What the gateway lets in: a session for the dashboard, a key for everything else; and the page's own origin. */
function credentials(world: World, user: FuzzUser | undefined): Record<string, string> {
  if (!user) return { origin: world.url }
  return { authorization: `Bearer ${user.key}`, cookie: user.cookie, origin: world.url }
}

function contentType(random: Random): Record<string, string> {
  if (!random.once(30)) return { 'content-type': 'application/json' }
  return {
    'content-type': random.pick(['text/plain', 'multipart/form-data', 'application/json; charset=utf-16', 'a/b']),
  }
}

const ODD_HEADERS: readonly [string, string][] = [
  ...PROTOTYPE_NAMES.map((name): [string, string] => [name, 'x']),
  ['x-svc-session', '__proto__'],
  ['x-svc-session', 'y'.repeat(5_000)],
  ['anthropic-version', '2099-01-01'],
  ['x-forwarded-for', 'not an address, ::::1'],
  ['content-encoding', 'gzip'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['x-http-method-override', 'DELETE'],
]

function oddHeaders(random: Random): Record<string, string> {
  return random.once(6) ? Object.fromEntries([random.pick(ODD_HEADERS)]) : {}
}

function idOf(name: string, user: FuzzUser): string {
  const ids: Record<string, string> = {
    id: user.spareKeyId,
    sessionId: user.sessionId,
    requestId: user.requestId,
    accountId: user.accountId,
    orderId: user.orderId,
  }
  return ids[name] ?? user.orderId
}

function fillPath(operation: Operation, user: FuzzUser | undefined, world: World, random: Random): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'model') return random.once(3) ? random.pick(PROTOTYPE_NAMES) : random.pick(MODELS)
    // A session that is ended, or an order that is cancelled, is no loss: but only one's own.
    if (user && name !== 'sessionId' && random.once(3)) return idOf(name, user)
    if (random.once(3)) return idOf(name, random.pick(world.users.filter((other) => other !== user)))
    return wellFormed(encodeURIComponent(textOfAny(nastyValue(random)).slice(0, 2_000).toWellFormed()))
  })
}

/** Some text in every path segment, or another route is meant. */
function wellFormed(segment: string): string {
  return segment === '' ? '%20' : segment
}

function queryOf({ parameters }: Operation, random: Random): string {
  const query = new URLSearchParams()
  for (const { name, schema, in: place } of parameters) {
    if (place !== 'query' || typeof name !== 'string' || random.once(2)) continue
    const value = random.once(3) ? nastyValue(random) : valueFor(schema, random)
    query.append(name, textOfAny(value).slice(0, 3_000))
  }
  if (random.once(15)) query.append(random.pick(PROTOTYPE_NAMES), 'x')
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

const TEXTS = ['', '{', '[]', 'null', '"text"', '{"a":1e999}', '\ufeff{}', '{"model":"a","model":"b"}', '\u0000']

function bodyOf(operation: Operation, random: Random): string {
  if (random.once(25)) return random.pick(TEXTS)
  const value = operation.body === undefined ? nastyValue(random) : valueFor(operation.body, random)
  if (!isJsonObject(value)) return JSON.stringify(value)
  if ('model' in value && !random.once(8)) value.model = random.pick(random.once(6) ? PROTOTYPE_NAMES : MODELS)
  return JSON.stringify(value)
}

function textOfAny(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
