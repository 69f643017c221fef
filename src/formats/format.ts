/** What a wire format must do: decode (wire → hub), encode (hub → wire), parse (bytes → structure), format (structure → bytes). */
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
import type { Repair } from './repairs'

/** The path and query of a request. */
export type RequestLine = {
  /** The model id from the path, where the format puts it there (generate-content). */
  model?: string
  /** Whether the path asks for a stream, where the format says it there (generate-content). */
  stream?: boolean
}

/** What the provider behind a target can and cannot take. Catalogue data, so that a new provider needs no code. */
export type TargetTraits = {
  /** The upstream's name of the model, to be written into the request. */
  model: string
  /** The most output tokens the model can give; used where the format demands a limit and the caller set none. */
  maxOutputTokens: number
  /** Dialect switches, by name; each encoder documents the ones it reads. */
  quirks: ReadonlySet<string>
  /** Whose request it is: what is given to a provider by a name of the caller's is kept apart from all other accounts'. */
  accountId: string
  /** How often each tool that runs at the provider may be used: what the hold was made for. */
  toolLimits?: ReadonlyMap<string, number>
  /** Where in the body tools stand that run at the provider and are not to be offered to it. */
  untakenTools?: ReadonlySet<string>
  /** Fields beyond the format's list that the catalogue has passed on to the provider. */
  passFields?: ReadonlySet<string>
  /** Beta interfaces that it may be asked for; undefined = the usual ones. See {@link Protocol}. */
  betas?: ReadonlySet<string> | undefined
  /** The provider's own name of a beta interface; undefined if it refuses it. Left out if all are taken by their names. */
  takenBeta?: ((beta: Beta) => string | undefined) | undefined
  /** Betas that it has refused in this request, by the caller's names. */
  refusedBetas?: ReadonlySet<string> | undefined
  /** The service tier to ask for beside the standard one, which has a price. */
  serviceTier?: string | undefined
  /** What tools cost that run at the provider; missing where none may be used. */
  toolPrices?: ReadonlyMap<string, unknown> | undefined
}

export type EncodedRequest = { body: JsonObject; warnings: Warning[] }

/** The facts about an answer, besides its content, that an encoder needs. */
export type AnswerContext = {
  /** The id to give the answer, in the format's own style of id where the provider's own id is of another format. */
  id: string
  /** The public model id, which is what every answer and chunk names. */
  model: string
  /** Unix seconds. */
  created: number
  /** chat-completions: whether the caller asked for the usage chunk. */
  wantsUsage: boolean
  /** Whether the last usage is to say what the answer cost. */
  wantsCost?: true | undefined
  /** chat-completions: whether OpenRouter's own library reads it. */
  forOpenRouter?: true | undefined
  /** chat-completions: whether the caller waits for the deprecated `function_call` in place of tool calls. */
  wantsFunctionCall?: boolean
  /** generate-content: the field of the answer's object that is the answer, where the caller wants a bare word. */
  answerField?: string
  /** The caller's own names and kinds of tools, by the hub's names; absent where all are functions of that name. */
  toolOrigins?: ReadonlyMap<string, ToolOrigin>
  /** responses: fields of the request that the answer repeats. */
  answerEcho?: JsonObject
  /** responses: whether reasoning items carry `encrypted_content`. */
  wantsEncryptedReasoning?: boolean
  /** Whether the caller asked to read the model's reasoning. */
  wantsReasoning: boolean
  /** Local estimate of the input tokens, for formats that state usage before the provider does (messages). */
  estimatedInputTokens: number
}

/** In what the events of one stream differ, beside their texts, without meaning anything else. */
export type RunningFields = {
  /** Strings of an event that are not read. */
  padding: readonly string[]
  /** Whole numbers of an event that only count the events. */
  numbering?: readonly string[]
  /** The field of an event that holds its usage. */
  usageField: string
  /** Counts in there, at any depth of objects. */
  counts: readonly string[]
}

/** Turns one upstream stream into events without I/O; never throws. A text must not change its state (gateway/attempt/repeats.ts). */
export interface StreamDecoder {
  /** Left out if the providers of the format send no such fields. */
  readonly running?: RunningFields
  /** The events of a usage object alone: the last ones of `push` for an event with this usage. */
  pushUsage?(usage: JsonObject): ChatEvent[]
  /** `json` is `event.data` parsed, or undefined if it is not JSON. */
  push(event: SseEvent, json: JsonValue | undefined): ChatEvent[]
  /** Whether every choice that began has said why it stopped: what may follow is usage and the terminator. */
  isFinished(): boolean
  /** The upstream closed. Closes open blocks; emits `end` only where the provider's own terminator (or finish) was seen. */
  end(): ChatEvent[]
}

/** A piece of text, which differs from the one before in what it says. */
export type TextPiece = Extract<ChatEvent, { type: 'text-delta' | 'reasoning-delta' }>

/** Turns events into one client's stream. Knows no I/O. A delta's text is written as JSON writes it, whatever it says. */
export interface StreamEncoder {
  push(event: ChatEvent): Frame[]
  /** For formats that number their events: the field, the last number, and noting a repeated piece without {@link push}. */
  numbering?: { name: string; last(): number; repeat(piece: TextPiece): number }
  /** The closing frames of a stream that ended well. */
  end(): Frame[]
  /** The frames of a broken stream, without a clean end. `eventsBefore`: numbered events that this encoder did not make. */
  fail(error: GatewayError, requestId: string, eventsBefore?: number): Frame[]
}

/** How frames become bytes for one client. */
export type Framing = {
  contentType: string
  /** Sent before the first frame and after the last (the brackets of a JSON array); '' in event streams. */
  open: string
  close: string
  format(frame: Frame, index: number): string
  /** A block that keeps an idle connection open and means nothing; '' if the format has none. */
  keepAlive: string
  /** Whether clients can read this block of a provider's own stream; absent = whatever server-sent events may be, they can. */
  isReadable?(block: string): boolean
}

export type EncodedError = { status: number; body: JsonObject; headers: Record<string, string> }

/** Questions of a passing answer to the gateway, and its reports. */
export type PassHooks = {
  /** What is charged for the answer if it ends now. */
  charged(): Usage
  /** Whether the provider has said what the answer used, and no content came after that. */
  isUsageStated(): boolean
  /** A field was not as its format publishes it, and is now. May be called more than once for the same. */
  repaired(repair: Repair): void
}

/** One stream on its way through. A text must not change how later events are treated (gateway/relay/stream-writer.ts). */
export interface PassingStream {
  /** Whether an event says why the answer ended, and with it what is charged where the provider says nothing. */
  closesWithUsage?(json: JsonValue | undefined): boolean
  /** Frames that clients need before an event and the provider omitted; asked once, right before {@link event}. */
  before?(json: JsonValue | undefined): Frame[]
  /** The name that clients know an event by, in formats whose events have one: it is to stand on a line of its own. */
  nameOf?(json: JsonValue | undefined): string | undefined
  /** The data of one event with the public model id, and corrected where it breaks the shape; undefined hides the event. */
  event(data: string, json: JsonValue | undefined): string | undefined
  /** What clients wait for at the end and the provider left out; its terminator too, unless `isTerminated`. */
  ending(isTerminated: boolean): Frame[]
}

/**
 * The changes that an answer in the same format needs on its way; all else stays, if it keeps the published shape that clients
 * rely on.
 */
export interface PassThrough {
  /** Whether the answer goes by the gateway's id of it, whatever id its provider gives it. */
  readonly namesAnswer?: true
  /** The caller's own body with the upstream's model (and what metering needs) put in. Never changes `body`. */
  request(body: JsonObject, request: ChatRequest, traits: TargetTraits): JsonObject
  /** The provider's complete answer, with the public model id, and corrected where it breaks the shape. */
  response(text: string, json: JsonObject, context: AnswerContext, hooks: PassHooks): string
  createStream(context: AnswerContext, hooks: PassHooks): PassingStream
}

/** One call at a provider, as far as its address depends on it. */
export type EndpointCall = {
  /** The provider's base address, without trailing slash. */
  baseUrl: string
  /** The version segment that the provider's entry names, where the format's paths have one. */
  apiVersion: string | undefined
  /** The upstream's name of the model. */
  model: string
  stream: boolean
}

/** Where the format's providers are called, and how the credential is sent. */
export type Endpoint = {
  /** The address of one call. What is part of the path is percent-encoded. */
  url(call: EndpointCall): string
  /** The address of one call for embeddings. Left out by formats without. */
  embeddingsUrl?(call: Omit<EndpointCall, 'stream'>): string
  /** Which versions a provider's entry may name; left out if its addresses have none. */
  versions?: { pattern: RegExp; example: string }
  /** The header that carries the key, and what stands before the key in it. */
  credential: { header: string; prefix: string }
  /** Headers of every call, such as the version of the protocol. */
  headers: Readonly<Record<string, string>>
  /** Whether the body of a request can ask for a service tier beside the standard one. */
  hasServiceTiers: boolean
  /** The path of a base address at which the sandbox serves the format. */
  sandboxPath: string
}

/** Which names of tools the providers of a format take. */
export type ToolNameRule = { accepted: RegExp; maxChars: number }

/** The signs of a request in this format, if no route of the format's own says so. */
export interface Recognition {
  /** Headers that only the format's clients send. */
  readonly headers: readonly string[]
  /** Headers in which they send their key, beside `authorization`. */
  readonly keyHeaders: readonly string[]
  /** Whether only this format has endpoints like `path`, which is percent-encoded and has no query. */
  isOwnPath(path: string): boolean
  /** Whether a body is none that another format could have. */
  isOwnBody(body: JsonObject, headers: Headers): boolean
}

/** The place of the cost in an answer, for callers who ask for it. */
export type CostPlace = {
  /** The path of the usage in a whole answer, or in an event of a stream that says it for the last time; undefined in all others. */
  usagePath(json: JsonObject): readonly string[] | undefined
  /** The names of the parts for input and for output. */
  parts: { input: string; output: string }
}

export interface Format {
  readonly name: FormatName
  /** The body of a request, for the documentation. */
  readonly requestSchema: TSchema
  /** Likewise: the body of an answer, the data of one event of a streamed one, and the body of an error. Each has a title. */
  readonly answerSchema: TSchema
  readonly eventSchema: TSchema
  readonly errorSchema: TSchema
  readonly recognition: Recognition
  readonly endpoint: Endpoint
  /** The names that its providers take for tools. */
  readonly toolNames: ToolNameRule
  /** The fate of each field of a request, here and at other formats. */
  readonly requestFields: RequestFields
  /** The tools that run at its providers and may have a price, by the names that the catalogue gives them. */
  readonly serverTools: readonly string[]
  readonly modelListing?: ModelListing
  /** The header in which its clients look for the request's id; left out if that is `x-request-id`, which all answers have. */
  readonly requestIdHeader?: string
  /** The items of a request to store, since later requests may name them; undefined if none. */
  readonly keptItems?: (items: readonly JsonObject[]) => JsonObject[] | undefined
  /** Left out by formats without embeddings. */
  readonly embeddings?: Embeddings
  /** Throws a GatewayError `invalid_request` that names the field and the limit it breaks. Never changes `body`. */
  decodeRequest(body: JsonObject, line: RequestLine): ChatRequest
  /** Likewise at an endpoint that all formats share: `model` is in the body, wherever the format's own path would put it. */
  decodeLoneBody(body: JsonObject): ChatRequest
  /** What headers ask of providers; undefined for the usual. Throws `invalid_request` that names the header. */
  readProtocol?(headers: Headers, body: JsonObject): Protocol | undefined
  /** Throws a GatewayError `invalid_request` where leaving something out would change the meaning. */
  encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest
  /** The most bytes by which a provider with such quirks gets schemas of so many bytes longer; left out if it gets them as they are. */
  grownSchemas?(bytes: number, quirks: ReadonlySet<string>): number
  /** Returns undefined where `body` is not an answer of this format (an error in a 200, HTML, another shape). */
  decodeResponse(body: JsonValue): ChatResponse | undefined
  encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject
  createStreamDecoder(): StreamDecoder
  createStreamEncoder(context: AnswerContext): StreamEncoder
  encodeError(error: GatewayError, requestId: string): EncodedError
  /** The rest of a key's limits, in the headers that the format's clients look for; `nowMs` for those that want a moment. */
  rateLimitHeaders(limits: RateLimits, nowMs: number): Record<string, string>
  /** Decodes a provider's error. Never throws. `status` is undefined inside a stream, `body` if it is not JSON. */
  decodeError(status: number | undefined, body: JsonValue | undefined): ProviderError
  /** The body without proofs of reasoning, for a provider that refused them; undefined if it holds none. */
  withoutProofs?(body: JsonObject): JsonObject | undefined
  /** The usage object of this format (not of the whole answer) in classes, or undefined if it is no usable usage. */
  decodeUsage(usage: JsonValue | undefined): Usage | undefined
  readonly costPlace: CostPlace
  readonly passThrough: PassThrough
  readonly framing: Framing
}

/** A model or tier as a list tells it. Limits are in tokens; a tier states no output limit of its own, and no kind: it chats. */
export type ListedModel = {
  id: string
  /** Missing unless `id` is an alias: the id of the model or tier. */
  aliasOf?: string
  kind?: 'chat' | 'embedding'
  name: string
  contextLength: number
  maxOutputTokens?: number
}

/** The list of models, for clients that read one of the format's own beside the common one. */
export type ModelListing = {
  /** The field that holds the entries. */
  field: string
  entrySchema: TSchema
  encodeModel(sold: ListedModel): JsonObject
}
