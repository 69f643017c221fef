/** What a dialect is: how a format is reached at one provider, by its address and its credential. */
import type { FormatName } from '@/chat/format-name'
import type { Endpoint } from '@/formats/format'

/** The dialects that the catalogue may name. */
export const DIALECT_NAMES = ['azure-openai'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** A format's own endpoint is the dialect of all providers that are reached as its vendor publishes it. */
export type Dialect = Omit<Endpoint, 'credential'> & {
  /** Missing where the catalogue names none. */
  readonly name?: DialectName
  /** The header that carries a provider key; missing where calls have no key. */
  readonly credential?: Endpoint['credential'] | undefined
}

/** One dialect, before a provider's entry is read. */
export type DialectKind = {
  /** The formats that are reached by it. */
  readonly formats: readonly FormatName[]
  /** Whether a provider's entry has to name a version. */
  readonly needsVersion: boolean
  /** The dialect of a provider whose format's own endpoint is `endpoint`. */
  create(format: FormatName, endpoint: Endpoint): Dialect
}
