/** Providers of the catalogue file: checks beyond the schema, defaults, and which of them have a key. */
import {
  defaultBaseUrl,
  isComplete,
  isKeyless,
  plainEndpoint,
  readDialect,
  spokenFormat,
} from '@/catalog/dialects/read-dialect'
import type { Dialect } from '@/dialects/dialect'
import { FORMATS } from '@/formats/index'
import { sha256Hex } from '@/lib/ids'
import type { FaultList } from './check'
import { readDataTerms } from './data-terms'
import type { ProviderFile } from './schema'
import type { DisconnectPolicy, Provider, ProviderKey, Timeouts } from './types'

/** Default time limits. An answer that isn't streamed sends its first byte when it is complete, so `firstByteMs` is long. */
export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 5_000, firstByteMs: 300_000, idleMs: 120_000, totalMs: 900_000 }
const DEFAULT_DRAIN_SECONDS = 30
const DEFAULT_DRAINS_AT_ONCE = 50

const SANDBOX_KEY = 'sandbox'
const KEY_ID_CHARS = 12
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const HEADER_VALUE = /^[\x20-\x7e]*$/
const CALL_HEADERS = [
  'host',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'accept-encoding',
  'cookie',
]
const RESERVED_HEADERS = new Set([
  ...[...FORMATS.values()].map(({ endpoint }) => endpoint.credential.header),
  ...CALL_HEADERS,
])

/** `sandboxBaseUrl`: the sandbox's address, if it replaces every provider. `isProxied`: whether calls go through a proxy. */
export type ProviderSurroundings = { sandboxBaseUrl: string | undefined; isProxied: boolean }

/** Reads one entry of `providers`. Without `sandboxBaseUrl` its keys may be empty: the provider is then not offered. */
export function readProvider(
  name: string,
  file: ProviderFile,
  faults: FaultList,
  { sandboxBaseUrl, isProxied }: ProviderSurroundings,
): Provider {
  const place = `providers.${name}`
  const isSandboxed = sandboxBaseUrl !== undefined
  const own = readDialect(file, place, faults)
  const format = spokenFormat(file)
  const dialect = isSandboxed ? plainEndpoint(format) : own
  const keys = readKeys(file, place, faults)
  const baseUrl = isSandboxed
    ? trimSlashes(sandboxBaseUrl) + dialect.sandboxPath
    : readBaseUrl(file.baseUrl ?? defaultBaseUrl(file), `${place}.baseUrl`, faults)
  if (file.betas && !FORMATS.get(format)?.readProtocol) {
    faults.add(`${place}.betas`, `only a provider of format ${WITH_BETAS} has beta interfaces`)
  }
  if (CALL_HEADERS.includes(own.credential?.header ?? '')) {
    faults.add(`${place}.auth.name`, 'is a header that can carry no key')
  }
  checkHeaders(file.headers ?? {}, own, `${place}.headers`, faults)
  return {
    name,
    format,
    dialect,
    baseUrl,
    apiVersion: file.apiVersion,
    keys: isSandboxed ? [toKey(SANDBOX_KEY, 1)] : keys,
    timeouts: readTimeouts(file.timeouts ?? {}, `${place}.timeouts`, faults),
    isProxied: isProxied && !isSandboxed,
    maxConcurrency: file.maxConcurrency ?? Number.POSITIVE_INFINITY,
    headers: isSandboxed ? {} : inLowerCase(file.headers ?? {}),
    onDisconnect: readDisconnectPolicy(file.onDisconnect),
    quirks: new Set(file.quirks),
    passFields: new Set(file.passFields),
    betas: file.betas && new Set(file.betas),
    data: readDataTerms(file),
  }
}

const WITH_BETAS = [...FORMATS.values()].flatMap(({ name, readProtocol }) => (readProtocol ? [name] : [])).join(' or ')

/** The headers with lower-case names, so that two spellings of a name are not sent as two headers. */
function inLowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Reads the keys. If calls are authorized without keys, the provider has one entry without a secret, for health data. */
function readKeys({ auth, keys: entries }: ProviderFile, place: string, faults: FaultList): ProviderKey[] {
  if (auth && isKeyless(auth)) {
    if (entries) faults.add(`${place}.keys`, `must not be there beside auth of type ${auth.type}`)
    return isComplete(auth) && !faults.has(`${place}.auth.credentials`)
      ? [{ id: auth.type === 'none' ? 'none' : keyId(JSON.stringify(auth)), secret: '', weight: 1 }]
      : []
  }
  if (!entries) faults.add(`${place}.keys`, 'is missing; expected a list of at least one key')
  const keys = new Map<string, ProviderKey>()
  for (const [index, entry] of (entries ?? []).entries()) {
    const { key: secret, weight } = typeof entry === 'string' ? { key: entry, weight: 1 } : entry
    if (secret === '') continue
    const key = toKey(secret, weight)
    if (!HEADER_VALUE.test(secret) || secret.trim() !== secret) {
      faults.add(`${place}.keys[${index}]`, 'has characters that are not allowed in a header')
    } else if (keys.has(key.id)) faults.add(`${place}.keys[${index}]`, 'is the same key as an earlier one')
    else keys.set(key.id, key)
  }
  return [...keys.values()]
}

function toKey(secret: string, weight: number): ProviderKey {
  return { id: keyId(secret), secret, weight }
}

function keyId(secret: string): string {
  return sha256Hex(secret).slice(0, KEY_ID_CHARS)
}

/** Reads the address. An empty address is no fault here: its variable is missing, which other code reports. */
function readBaseUrl(text: string | undefined, place: string, faults: FaultList): string {
  if (text === undefined) {
    faults.add(place, 'is missing; expected an http:// or https:// address')
    return ''
  }
  if (text === '' && faults.has(place)) return ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    faults.add(place, 'expected an http:// or https:// address')
  } else if (url.username !== '' || url.password !== '') faults.add(place, 'must not contain a user or password')
  else if (text.includes('?') || text.includes('#')) faults.add(place, 'must not contain a query or fragment')
  return trimSlashes(text)
}

function trimSlashes(text: string): string {
  return text.replace(/\/+$/, '')
}

function checkHeaders(
  headers: Record<string, string>,
  { credential }: Dialect,
  place: string,
  faults: FaultList,
): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) faults.add(`${place}.${name}`, 'is not a header name')
    else if (RESERVED_HEADERS.has(name.toLowerCase()) || credential?.header === name.toLowerCase())
      faults.add(`${place}.${name}`, 'is set by the gateway itself')
    else if (!HEADER_VALUE.test(value))
      faults.add(`${place}.${name}`, 'has characters that are not allowed in a header')
  }
}

/** Reads the time limits. Defaults adapt to the entry: if it sets a total of 60 s, the other limits are no longer than that. */
function readTimeouts(file: Partial<Timeouts>, place: string, faults: FaultList): Timeouts {
  const totalMs = file.totalMs ?? Math.max(DEFAULT_TIMEOUTS.totalMs, file.firstByteMs ?? 0, file.idleMs ?? 0)
  const firstByteMs = file.firstByteMs ?? Math.min(DEFAULT_TIMEOUTS.firstByteMs, totalMs)
  const connectMs = file.connectMs ?? Math.min(DEFAULT_TIMEOUTS.connectMs, firstByteMs)
  const idleMs = file.idleMs ?? Math.min(DEFAULT_TIMEOUTS.idleMs, totalMs)
  if (connectMs > firstByteMs) faults.add(`${place}.connectMs`, 'must not exceed firstByteMs')
  if (firstByteMs > totalMs) faults.add(`${place}.firstByteMs`, 'must not exceed totalMs')
  if (idleMs > totalMs) faults.add(`${place}.idleMs`, 'must not exceed totalMs')
  const { hedgeMs } = file
  return { connectMs, firstByteMs, idleMs, totalMs, ...(hedgeMs !== undefined && { hedgeMs }) }
}

function readDisconnectPolicy(file: ProviderFile['onDisconnect']): DisconnectPolicy {
  if (file?.policy === 'abort') return { kind: 'abort' }
  return {
    kind: file?.policy ?? 'auto',
    maxMs: Math.ceil((file?.maxSeconds ?? DEFAULT_DRAIN_SECONDS) * 1000),
    maxConcurrent: file?.maxConcurrent ?? DEFAULT_DRAINS_AT_ONCE,
  }
}
