/** The contract of a wire format: decode (wire → hub), encode (hub → wire), parse (bytes → structure), format (structure → bytes). */
import type { TSchema } from '@sinclair/typebox'
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FormatName } from '@/chat/format-name'
import type { Beta, Protocol } from '@/chat/protocol'
import type { ProviderError } from '@/chat/provider-error'
import type { RateLimits } from '@/chat/rate-limits'
import type { ChatRequest, ToolOrigin, Warning } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { JsonObject, JsonValue } from '@/lib/json'
import type { Frame, SseEvent } from '@/lib/streams/sse'
import type { RequestFields } from './body-fields'
import type { Embeddings } from './embeddings'
import type { MediaCalls } from './media-call'
import type { Repair } from './repairs'

export type RequestLine = {
  /** The model id, for formats whose path contains it (generate-content). */
  model?: string
  /** Whether a stream is requested, for formats whose path says so (generate-content). */
  stream?: boolean
}

/** Capabilities of a target's provider. They come from the catalogue, so that a new provider needs no code. */
export type TargetTraits = {
  model: string
  /** The model's maximum of output tokens; sent if the format requires a limit and the caller set none. */
  maxOutputTokens: number
  /** Names of the provider's deviations; `QUIRKS` of each format lists those that it supports. */
  quirks: ReadonlySet<string>
  /** The account of the request. Names that callers choose are made unique per account before they are sent to a provider. */
  accountId: string
  /** Maximum uses of each provider-run tool; the hold covers this number. */
  toolLimits?: ReadonlyMap<string, number>
  /** Provider-run tools to omit, given by their place in the body. */
  untakenTools?: ReadonlySet<string>
  /** Fields that are not in the format's list, but that the catalogue allows to be sent. */
  passFields?: ReadonlySet<string>
  /** Beta features that may be requested; undefined: the default ones. See {@link Protocol}. */
  betas?: ReadonlySet<string> | undefined
  /** The provider's own name of a beta feature; undefined if it is not supported. Missing if the provider accepts the callers' names. */
  takenBeta?: ((beta: Beta) => string | undefined) | undefined
  /** Betas that the provider refused for this request, by the caller's names. */
  refusedBetas?: ReadonlySet<string> | undefined
  /** The service tier to request, if it is not the standard one; the catalogue has its price. */
  serviceTier?: string | undefined
  /** Prices of provider-run tools; missing if none may be used. */
  toolPrices?: ReadonlyMap<string, unknown> | undefined
}

export type EncodedRequest = { body: JsonObject; warnings: Warning[] }

export type AnswerContext = {
  /** The id of the answer, in the format's own style if the provider uses another format. */
  id: string
  model: string
  created: number
  /** chat-completions: whether the caller requested the usage chunk. */
  wantsUsage: boolean
  /** Whether the last usage must include the cost. */
  wantsCost?: true | undefined
  /** chat-completions: whether the caller is OpenRouter's own library. */
  forOpenRouter?: true | undefined
  /** chat-completions: whether the caller expects the deprecated `function_call` instead of tool calls. */
  wantsFunctionCall?: boolean
  /** generate-content: the object field that contains the answer, if the caller wants a bare value. */
  answerField?: string
  /** Name and kind of each tool as the caller sent it, by its name in the hub. Missing if all are functions and keep their names. */
  toolOrigins?: ReadonlyMap<string, ToolOrigin>
  /** responses: request fields that the answer repeats. */
  answerEcho?: JsonObject
  /** responses: whether reasoning items contain `encrypted_content`. */
  wantsEncryptedReasoning?: boolean
  wantsReasoning: boolean
  /** Our estimate of the input tokens, for formats that send usage before the provider reports it (messages). */
  estimatedInputTokens: number
}

/** Fields that are no texts, and that may differ between a stream's events without changing their meaning. */
export type RunningFields = {
  /** String fields of an event that are ignored. */
  padding: readonly string[]
  /** Integer fields of an event that only number the events. */
  numbering?: readonly string[]
  usageField: string
  /** Names of counts inside the usage, at any depth. */
  counts: readonly string[]
}

/** Decodes one upstream stream, without I/O; never throws. Text events must not change its state (gateway/attempt/repeats.ts). */
export interface StreamDecoder {
  /** Fields in which similar events differ; missing if the format's providers send none. */
  readonly running?: RunningFields
  /** The events for a usage object alone: the last ones that `push` would return for an event with this usage. */
  pushUsage?(usage: JsonObject): ChatEvent[]
  /** `json` is `event.data` parsed, or undefined if it is not JSON. */
  push(event: SseEvent, json: JsonValue | undefined): ChatEvent[]
  /** Whether every started choice has its finish reason. Then only usage and the terminator can follow. */
  isFinished(): boolean
  /** Called when the upstream closed. Closes open blocks; emits `end` only if the provider's terminator (or finish) was received. */
  end(): ChatEvent[]
}

/** A text delta: it differs from its predecessor only in the text. */
export type TextPiece = Extract<ChatEvent, { type: 'text-delta' | 'reasoning-delta' }>

/** Encodes events for one client, without I/O. The text of a delta is always written as plain JSON. */
export interface StreamEncoder {
  push(event: ChatEvent): Frame[]
  /** For formats with numbered events: the field, the last number, and a method that counts a repeated event without {@link push}. */
  numbering?: { name: string; last(): number; repeat(piece: TextPiece): number }
  /** The final frames of a stream that ended well. */
  end(): Frame[]
  /** The final frames of an interrupted stream. `eventsBefore`: number of events that were not made by this encoder. */
  fail(error: GatewayError, requestId: string, eventsBefore?: number): Frame[]
}

export type Framing = {
  contentType: string
  /** Sent before the first frame and after the last (the brackets of a JSON array); '' for event streams. */
  open: string
  close: string
  format(frame: Frame, index: number): string
  keepAlive: string
  /** Whether clients can parse this block of a provider's stream; missing: they can parse all server-sent events. */
  isReadable?(block: string): boolean
}

export type EncodedError = { status: number; body: JsonObject; headers: Record<string, string> }

/** The gateway's callbacks for a passed-through answer. */
export type PassHooks = {
  /** The usage that is charged if the answer ends now. */
  charged(): Usage
  /** Whether the provider has reported the usage, with no content afterwards. */
  isUsageStated(): boolean
  /** Reports that a field deviated from the published format and was corrected. May be called repeatedly for the same repair. */
  repaired(repair: Repair): void
}

/** One passed-through stream. Text events must not change how later events are treated (gateway/relay/stream-writer.ts). */
export interface PassingStream {
  /** Whether an event has the finish reason, and therefore also needs the usage if the provider sends none. */
  closesWithUsage?(json: JsonValue | undefined): boolean
  /** Frames that clients need before an event and the provider omitted; called once, right before {@link event}. */
  before?(json: JsonValue | undefined): Frame[]
  /** The event's name, which gets its own line in the stream, for formats with named events. */
  nameOf?(json: JsonValue | undefined): string | undefined
  /** One event's data with the public model id and with corrections; undefined drops the event. */
  event(data: string, json: JsonValue | undefined): string | undefined
  /** Frames that clients expect at the end and the provider omitted, including its terminator unless `isTerminated`. */
  ending(isTerminated: boolean): Frame[]
}

/** The changes to request and answer if caller and provider use one format. If an answer has the published shape, its other bytes stay. */
export interface PassThrough {
  /** Whether the answer gets the gateway's id instead of the provider's. */
  readonly namesAnswer?: true
  /** The caller's own body with the upstream's model and fields for metering. Never changes `body`. */
  request(body: JsonObject, request: ChatRequest, traits: TargetTraits): JsonObject
  /** The provider's complete answer with the public model id and with corrections. */
  response(text: string, json: JsonObject, context: AnswerContext, hooks: PassHooks): string
  createStream(context: AnswerContext, hooks: PassHooks): PassingStream
}

export type EndpointCall = {
  baseUrl: string
  /** The version segment from the provider's entry, for formats with versioned paths. */
  apiVersion: string | undefined
  model: string
  stream: boolean
}

export type Endpoint = {
  url(call: EndpointCall): string
  /** The URL of an embeddings call. Missing for formats without embeddings. */
  embeddingsUrl?(call: Omit<EndpointCall, 'stream'>): string
  /** The URL of a call at another path, such as `audio/speech`. Missing for formats and dialects without such paths. */
  mediaUrl?(call: Omit<EndpointCall, 'stream'>, path: string): string
  /** Versions that a provider's entry may set; missing if its URLs have none. */
  versions?: { pattern: RegExp; example: string }
  /** The header with the key, and the prefix before the key. */
  credential: { header: string; prefix: string }
  /** Headers of every call, such as the protocol version. */
  headers: Readonly<Record<string, string>>
  /** The provider's endpoint that lists models, with a function that reads a page of the list. */
  modelList: ModelListEndpoint
  /** Whether a request's body can ask for a service tier. */
  hasServiceTiers: boolean
  /** The base URL's path at which the sandbox serves the format. */
  sandboxPath: string
}

/** A provider's list of models, which may come in pages. */
export type ModelListEndpoint = {
  /** The URL of the first page, or of the page that begins after `cursor`. */
  url(provider: Pick<EndpointCall, 'baseUrl' | 'apiVersion'>, cursor: string | undefined): string
  /** The entries of a page and the cursor of the next one; undefined if `json` is no page. */
  readPage(json: JsonValue | undefined): { entries: JsonValue[]; next: string | undefined } | undefined
}

/** Tool names that the format's providers accept. */
export type ToolNameRule = { accepted: RegExp; maxChars: number }

/** Recognises requests in this format on routes that several formats share. */
export interface Recognition {
  /** Headers that only the format's clients send. */
  readonly headers: readonly string[]
  /** Headers with the client's key, besides `authorization`. */
  readonly keyHeaders: readonly string[]
  /** Whether only this format has endpoints like `path`, which is percent-encoded and has no query. */
  isOwnPath(path: string): boolean
  /** Whether a body can only be of this format. */
  isOwnBody(body: JsonObject, headers: Headers): boolean
}

/** The place of the cost in an answer, for callers who ask for it. */
export type CostPlace = {
  /** The path of the usage in a whole answer or in a stream's last usage event; undefined for other events. */
  usagePath(json: JsonObject): readonly string[] | undefined
  parts: { input: string; output: string }
}

export interface Format {
  readonly name: FormatName
  readonly requestSchema: TSchema
  /** Schemas, for the documentation, of an answer, a stream event's data and an error. Each has a title. */
  readonly answerSchema: TSchema
  readonly eventSchema: TSchema
  readonly errorSchema: TSchema
  readonly recognition: Recognition
  readonly endpoint: Endpoint
  readonly toolNames: ToolNameRule
  /** The fields of a request, and how this and other formats treat them. */
  readonly requestFields: RequestFields
  /** Provider-run tools that may have a price, by the catalogue's names. */
  readonly serverTools: readonly string[]
  readonly modelListing?: ModelListing
  /** The header in which clients look for the request's id; missing if that is `x-request-id`, which all answers have. */
  readonly requestIdHeader?: string
  /** The items of a request to store, since later requests may refer to them; undefined if they are too large. */
  readonly keptItems?: (items: readonly JsonObject[]) => JsonObject[] | undefined
  /** Missing for formats without embeddings. */
  readonly embeddings?: Embeddings
  /** Calls that are no conversations; missing for formats without any. */
  readonly media?: MediaCalls
  /** Throws a GatewayError `invalid_request` that names the field and its limit. Never changes `body`. */
  decodeRequest(body: JsonObject, line: RequestLine): ChatRequest
  /** Like `decodeRequest`, for endpoints shared by all formats: `model` is in the body, even if the format's own path contains it. */
  decodeLoneBody(body: JsonObject): ChatRequest
  /** Protocol settings from the headers; undefined for the defaults. Throws `invalid_request` that names the header. */
  readProtocol?(headers: Headers, body: JsonObject): Protocol | undefined
  /** Throws a GatewayError `invalid_request` if an omission would change the meaning. */
  encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest
  /** Maximum bytes by which schemas of `bytes` can grow, for a provider with these quirks; missing if schemas are sent unchanged. */
  grownSchemas?(bytes: number, quirks: ReadonlySet<string>): number
  /** Undefined if `body` is not an answer of this format (an error in a 200, HTML, another shape). */
  decodeResponse(body: JsonValue): ChatResponse | undefined
  encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject
  createStreamDecoder(): StreamDecoder
  createStreamEncoder(context: AnswerContext): StreamEncoder
  encodeError(error: GatewayError, requestId: string): EncodedError
  /** A key's remaining limits, in the headers that the format's clients read; `nowMs` is for headers that contain a time. */
  rateLimitHeaders(limits: RateLimits, nowMs: number): Record<string, string>
  /** Decodes a provider's error. Never throws. `status` is undefined inside a stream, `body` if it is not JSON. */
  decodeError(status: number | undefined, body: JsonValue | undefined): ProviderError
  /** The body without proofs of reasoning, for a provider that refused them; undefined if it has none. */
  withoutProofs?(body: JsonObject): JsonObject | undefined
  /** Splits this format's usage object into token counts by kind (input, output, cached); undefined if it can't be used. */
  decodeUsage(usage: JsonValue | undefined): Usage | undefined
  readonly costPlace: CostPlace
  readonly passThrough: PassThrough
  readonly framing: Framing
}

export type ListedModel = {
  id: string
  /** Set if `id` is an alias: the id of the model or tier. */
  aliasOf?: string
  /** The model's kind; missing for tiers. */
  kind?: string
  name: string
  contextLength: number
  maxOutputTokens?: number
}

/** The list of models in the format's own shape, for clients that expect it. */
export type ModelListing = {
  /** The field that contains the entries. */
  field: string
  entrySchema: TSchema
  encodeModel(sold: ListedModel): JsonObject
}
