/** What a dialect is: how a format is reached at one provider, by its address and its credential. */
import type { FormatName } from '@/chat/format-name'
import type { Beta } from '@/chat/protocol'
import type { ProviderError } from '@/chat/provider-error'
import type { Embeddings } from '@/formats/embeddings'
import type { Endpoint } from '@/formats/format'
import type { JsonObject, JsonValue } from '@/lib/json'
import type { Authorizer } from './credentials/authorizer'

/** The dialects that the catalogue may name. */
export const DIALECT_NAMES = [
  'azure-openai',
  'bedrock-converse',
  'bedrock-embed',
  'bedrock-invoke',
  'bedrock-mantle',
  'foundry',
  'vertex',
  'vertex-raw',
] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** A format's own endpoint is the dialect of all providers that are reached as its vendor publishes it. */
export type Dialect = Omit<Endpoint, 'credential'> & {
  /** Missing where the catalogue names none. */
  readonly name?: DialectName
  /** The header that carries a provider key; missing where calls have no key. */
  readonly credential?: Endpoint['credential'] | undefined
  /** Authorizes each call; missing where a key does, or nothing has to. */
  readonly authorizer?: Authorizer
  /** Secrets of the authorizer that no log may show. */
  readonly secrets?: readonly string[]
  /**
   * Replaces the format's `body`, which stays unchanged; undefined if the body is sent as it is. `headers`: those of the
   * catalogue and the caller's protocol, in lower case. `family`: the catalogue's word for a model whose name is unclear.
   * Throws `invalid_request` if omitting something would change the meaning.
   */
  envelope?(body: JsonObject, headers: Readonly<Record<string, string>>, family?: string): Enveloped
  /** As the format's `withoutProofs`, of a body in the envelope; left out if the format's own does for that. */
  withoutProofs?(body: JsonObject): JsonObject | undefined
  /**
   * Embedding calls for a model of this name or family, if they differ from the format's. Then such a provider's models only
   * embed.
   */
  embeddings?(model: string): ProviderEmbeddings
  /** Its name of a beta interface; undefined if it refuses a request that names it. Left out if all are taken by their names. */
  takenBeta?(beta: Beta): string | undefined
  /** Which headers of the caller's protocol are sent; left out if all are. */
  protocolHeaders?(headers: Readonly<Record<string, string>>): Record<string, string>
  /**
   * How an answer with these headers becomes one of the format; undefined if it is one already. Left out if all are. `doubted` is told
   * where the answer counts tokens twice, and differently.
   */
  readAnswer?(headers: Headers, doubted?: (counts: CountsInDoubt) => void): AnswerReading | undefined
  /** Decodes an error answer; undefined if it has the format's form. Never throws. */
  decodeError?(status: number, headers: Headers, body: JsonValue | undefined): ProviderError
}

/** The provider's side of embeddings. */
export type ProviderEmbeddings = Omit<Embeddings, 'encodeResponse'>

/** One body as a dialect sends it. */
type Enveloped = {
  body: JsonObject
  /** Fields of the format's body that the dialect has no word for. */
  leftOut: readonly string[]
}

/** Counts of one answer, by the format's names: those that it is charged by, and those of the cloud around it. */
export type CountsInDoubt = { told: JsonObject; measured: JsonObject }

/** Makes the format's own answer of a dialect's: a stream piece by piece, or what comes whole. */
export type AnswerReading =
  | {
      kind: 'stream'
      /** The format's own event stream, as far as these bytes complete it. What is wrong with them is an error event, and the last. Never throws. */
      push(bytes: Uint8Array): string
      /** What is left to say when no more bytes come. */
      end(): string
    }
  | {
      kind: 'whole'
      /** The format's own answer; undefined where `json` is none. */
      read(json: JsonValue): JsonObject | undefined
    }

/** One dialect, before a provider's entry is read. */
export type DialectKind = {
  /** The formats that are reached by it. */
  readonly formats: readonly FormatName[]
  /** The one that it speaks whichever of them an entry names; left out if it is that. */
  readonly spoken?: FormatName
  /** Whether a provider's entry has to name a version. */
  readonly needsVersion: boolean
  /** The property that an entry with these settings lacks; left out if none can be missing. */
  needs?(settings: DialectSettings): 'project' | 'location' | undefined
  /** The address of providers whose entries name none; left out if they have to. */
  baseUrl?(settings: DialectSettings): string
  /** The dialect of a provider whose format's own endpoint is `endpoint`. */
  create(format: FormatName, endpoint: Endpoint, settings: DialectSettings): Dialect
}

/** An entry's settings for its dialect; of `keys` only the existence matters. */
export type DialectSettings = {
  project?: string
  location?: string
  keys?: readonly unknown[]
  apiVersion?: string
  passFields?: readonly string[]
}
