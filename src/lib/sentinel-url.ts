/**
 * Parses the address of a Redis with Sentinels, in the form used by several clients:
 * `redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[/database][?sentinel_username=…&sentinel_password=…]`.
 */

/** The parts of a Sentinel URL. The default port is 26379, the default database 0. */
type SentinelAddress = {
  sentinels: { host: string; port: number }[]
  name: string
  database: number
  isTls: boolean
  username?: string
  password?: string
  sentinelUsername?: string
  sentinelPassword?: string
}

const SCHEME = /^rediss?\+sentinel:/i
const WHOLE = /^(rediss?)\+sentinel:\/\/(?:([^@/?\s]*)@)?([^@/?\s]+)\/([^/?\s]+)(?:\/(\d{1,5}))?(?:\?(\S*))?$/i
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i
const DEFAULT_PORT = 26_379
const OPTIONS = new Set(['sentinel_username', 'sentinel_password'])

/** Whether `url` has a scheme for Sentinels, even if the rest is malformed. */
export function isSentinelUrl(url: string): boolean {
  return SCHEME.test(url)
}

/** Parses the address. Undefined if malformed, or with an unknown option. */
export function parseSentinelUrl(url: string): SentinelAddress | undefined {
  const match = WHOLE.exec(url)
  if (!match) return undefined
  const [, scheme = '', login, hosts = '', name = '', database = '0', query = ''] = match
  const sentinels = hosts.split(',').map(readHost)
  const options = new URLSearchParams(query)
  if ([...options.keys()].some((option) => !OPTIONS.has(option))) return undefined
  if (!sentinels.every((sentinel) => sentinel !== undefined)) return undefined
  try {
    const colon = login?.indexOf(':') ?? -1
    return {
      sentinels,
      name: decodeURIComponent(name),
      database: Number(database),
      isTls: scheme.toLowerCase() === 'rediss',
      ...textIn('username', login && decodeURIComponent(colon === -1 ? login : login.slice(0, colon))),
      ...textIn('password', colon === -1 ? undefined : decodeURIComponent(login?.slice(colon + 1) ?? '')),
      ...textIn('sentinelUsername', options.get('sentinel_username')),
      ...textIn('sentinelPassword', options.get('sentinel_password')),
    }
  } catch {
    // An invalid percent escape.
    return undefined
  }
}

function readHost(text: string): { host: string; port: number } | undefined {
  const match = HOST.exec(text)
  const port = Number(match?.[2] ?? DEFAULT_PORT)
  if (!match?.[1] || port < 1 || port > 65_535) return undefined
  return { host: match[1].replace(/^\[|\]$/g, ''), port }
}

function textIn<Name extends string>(name: Name, text: string | null | undefined): { [key in Name]?: string } {
  return (text ? { [name]: text } : {}) as { [key in Name]?: string }
}
