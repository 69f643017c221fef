/** What a dialect is: how a format is reached at one provider, by its address and its credential. */
import type { FormatName } from '@/chat/format-name'
import type { Endpoint } from '@/formats/format'
import type { Authorizer } from './credentials/authorizer'

/** The dialects that the catalogue may name. */
export const DIALECT_NAMES = ['azure-openai', 'vertex'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** A format's own endpoint is the dialect of all providers that are reached as its vendor publishes it. */
export type Dialect = Omit<Endpoint, 'credential'> & {
  /** Missing where the catalogue names none. */
  readonly name?: DialectName
  /** The header that carries a provider key; missing where calls have no key. */
  readonly credential?: Endpoint['credential'] | undefined
  /** Authorizes each call; missing where a key does, or nothing has to. */
  readonly authorizer?: Authorizer
  /** What the authorizer is made of that nobody is to see. */
  readonly secrets?: readonly string[]
}

/** One dialect, before a provider's entry is read. */
export type DialectKind = {
  /** The formats that are reached by it. */
  readonly formats: readonly FormatName[]
  /** Whether a provider's entry has to name a version. */
  readonly needsVersion: boolean
  /** The property that an entry with these settings lacks; left out where none can be missing. */
  needs?(settings: DialectSettings): keyof DialectSettings | undefined
  /** The address of providers whose entries name none; left out where they have to. */
  baseUrl?(settings: DialectSettings): string
  /** The dialect of a provider whose format's own endpoint is `endpoint`. */
  create(format: FormatName, endpoint: Endpoint, settings: DialectSettings): Dialect
}

/** What an entry says for its dialect alone. */
export type DialectSettings = { project?: string; location?: string }
