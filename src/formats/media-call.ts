/** The part of a format's contract for requests that are no conversations: speech, transcriptions, pictures, ranked documents. */

import type { SpeechRequest, TranscriptionRequest } from '@/chat/audio'
import type { PictureRequest } from '@/chat/picture'
import type { RoutePreferences } from '@/chat/preferences'
import type { ProviderError } from '@/chat/provider-error'
import type { RerankRequest } from '@/chat/rerank'
import type { Billable, Unit, UnitCount } from '@/chat/units'
import type { Usage } from '@/chat/usage'
import type { JsonObject } from '@/lib/json'
import type { Format } from './format'

/** A decoded request, with the maximum of its usage. */
export type MediaRequest = {
  model: string
  /** Whether the caller wants the answer as a stream, of events or of bytes. */
  stream: boolean
  preferences?: RoutePreferences
  userId?: string
  /** Texts that the model reads, whose tokens are bounded and estimated. */
  texts: readonly string[]
  /** Input tokens besides the tokens of `texts`: maximum and estimate. Only models with token prices charge for them. */
  inputTokens?: { most: number; likely: number }
  /** Number of requested answers, each with at most the model's maximum of output tokens. Missing: one. */
  answers?: number
  /** The kind of all output tokens, if that kind has its own price. */
  outputTokensAre?: Billable
  /** Maximum number of units that are not tokens, and of input tokens with their own price, such as image tokens. */
  most: readonly UnitCount[]
  /** Units charged if the provider states no usage. Missing: the input part of `most`. */
  likely?: readonly UnitCount[]
  /** Whether the provider counts exactly `most`, whatever it answers. */
  isExact?: true
  /** Maximum characters of input, if the model's `contextLength` is in characters; undefined otherwise. */
  characters?: number
  /** Fields that no provider gets, unless the catalogue allows them. */
  unlisted?: string[]
  /** The call for a provider of this format; undefined if the format has none. */
  callFor(provider: Format): MediaCall | undefined
}

/** The kinds of calls that a format has, by the catalogue's kind of model. */
export interface MediaCalls {
  speech?(request: SpeechRequest): MediaCall
  transcription?(request: TranscriptionRequest): MediaCall
  image?(request: PictureRequest): MediaCall
  rerank?(request: RerankRequest): MediaCall
}

/** A target's properties in the catalogue. */
export type MediaTraits = {
  model: string
  /** The name of the foundation model, if `model` doesn't contain it. */
  family?: string | undefined
  quirks: ReadonlySet<string>
  passFields: ReadonlySet<string>
  /** Whether the model has a price for this unit. */
  sells(unit: Unit): boolean
}

/**
 * A call's body, and its path below the provider's base URL. A call without a path goes to the URL of conversations. `isWhole`: the
 * provider is asked for a whole answer, even if the caller wants a stream.
 */
export type MediaBody = { path?: string; body: JsonObject | FormData; isWhole?: true; leftOut?: readonly string[] }

/** A whole answer for the client. `usage`: null if the provider states none. */
export type MediaAnswer = { body: string | Uint8Array<ArrayBuffer>; contentType: string; usage: Usage | null }

/** Part of a streamed answer: bytes for the client, and the usage or error that the provider reports in it. */
export type MediaPiece = { bytes: Uint8Array; usage?: Usage; error?: ProviderError }

/** Reads a streamed answer while it is relayed. Synchronous, without I/O. */
export interface MediaReader {
  /** The content type for the client. */
  readonly contentType: string
  /** Whether the client can get an error as an event; otherwise its connection is closed. */
  readonly isEvents: boolean
  /** Whether a stream that breaks before it states a usage is free. Missing: all relayed parts are charged. */
  readonly isFreeUntilUsage?: true
  push(bytes: Uint8Array): MediaPiece
  /** The last part, after the provider closed the stream. `isWhole`: whether the answer is complete. */
  end(): MediaPiece & { isWhole: boolean }
  /** Estimated usage of the relayed part, if the provider's stream broke off before it stated any. */
  likelyUsage?(): Usage
}

/** One kind of call at providers of a format. */
export interface MediaCall {
  /** Throws a GatewayError `invalid_request` if the provider doesn't support the request. */
  encode(traits: MediaTraits): MediaBody | Promise<MediaBody>
  /** Undefined if `bytes` is not an answer to this kind of call. */
  decode(bytes: Uint8Array<ArrayBuffer>, contentType: string, traits: MediaTraits): MediaAnswer | undefined
  /** The reader for a streamed answer of this content type; undefined: it is read whole. Missing: every answer is read whole. */
  read?(contentType: string, traits: MediaTraits): MediaReader | undefined
}
