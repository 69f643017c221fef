/** A dialect: how to reach a format at one provider, with its address and credential. */
import type { FormatName } from '@/chat/format-name'
import type { Beta } from '@/chat/protocol'
import type { ProviderError } from '@/chat/provider-error'
import type { Embeddings } from '@/formats/embeddings'
import type { Endpoint } from '@/formats/format'
import type { JsonObject, JsonValue } from '@/lib/json'
import type { Authorizer } from './credentials/authorizer'

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

export type Dialect = Omit<Endpoint, 'credential'> & {
  readonly name?: DialectName
  readonly credential?: Endpoint['credential'] | undefined
  /** Authorizes each call; missing if the provider's key is sent, or if calls need no authorization. */
  readonly authorizer?: Authorizer
  readonly secrets?: readonly string[]
  /**
   * Converts the format's `body` without changing it; undefined if the body is sent unchanged. `headers`: the catalogue's and the caller's
   * protocol headers, in lower case. `family`: the catalogue's name for a model whose own name is unclear. Throws `invalid_request` if an
   * omission would change the meaning.
   */
  envelope?(body: JsonObject, headers: Readonly<Record<string, string>>, family?: string): Enveloped
  /** Like the format's `withoutProofs`, for a converted body; missing if the format's own works. */
  withoutProofs?(body: JsonObject): JsonObject | undefined
  /** Embedding calls for a model of this name or family, if they differ from the format's. Such a provider's models can only embed. */
  embeddings?(model: string): ProviderEmbeddings
  /** The provider's name of a beta; undefined if the provider doesn't support it. Missing if it accepts all betas by their names. */
  takenBeta?(beta: Beta): string | undefined
  /** Filters the caller's protocol headers; missing if all are sent. */
  protocolHeaders?(headers: Readonly<Record<string, string>>): Record<string, string>
  /** How to convert an answer with these headers; undefined or missing if it has the format. `doubted` gets two differing counts. */
  readAnswer?(headers: Headers, doubted?: (counts: CountsInDoubt) => void): AnswerReading | undefined
  /** Decodes an error response; undefined if it has the format's form. Never throws. */
  decodeError?(status: number, headers: Headers, body: JsonValue | undefined): ProviderError
}

export type ProviderEmbeddings = Omit<Embeddings, 'encodeResponse'>

type Enveloped = {
  body: JsonObject
  leftOut: readonly string[]
}

/** Two differing counts of one answer, by the format's field names. `told` (the model's) is charged; `measured` is the cloud's. */
export type CountsInDoubt = { told: JsonObject; measured: JsonObject }

/** Converts a dialect's answer to the format: a stream piecewise, anything else as a whole. */
export type AnswerReading =
  | {
      kind: 'stream'
      /**
       * Returns the part of the format's event stream that these bytes complete. Invalid bytes end it with an error event. Never throws.
       */
      push(bytes: Uint8Array): string
      end(): string
    }
  | {
      kind: 'whole'
      /** Converts a whole answer to the format; undefined if `json` is not an answer. */
      read(json: JsonValue): JsonObject | undefined
    }

export type DialectKind = {
  /** The formats that an entry with this dialect may name. */
  readonly formats: readonly FormatName[]
  /** The provider's real format, if it can differ from the entry's. */
  readonly spoken?: FormatName
  readonly needsVersion: boolean
  /** The required property that these settings lack; the method is missing if no property is required. */
  needs?(settings: DialectSettings): 'project' | 'location' | undefined
  /** The default address; missing if entries must set one. */
  baseUrl?(settings: DialectSettings): string
  /** Creates the dialect of a provider. `endpoint`: the endpoint of its format. */
  create(format: FormatName, endpoint: Endpoint, settings: DialectSettings): Dialect
}

export type DialectSettings = {
  project?: string
  location?: string
  keys?: readonly unknown[]
  apiVersion?: string
  passFields?: readonly string[]
}
