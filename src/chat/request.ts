/** The hub: a conversation independent of formats. Every format decodes into it and encodes from it. */

import type { JsonObject, JsonValue } from '@/lib/json'
import type { FormatName } from './format-name'
import type { RoutePreferences } from './preferences'
import type { Protocol } from './protocol'
import type { ServerTool } from './server-tools'
import type { Source } from './sources'

/** Asks the provider to cache the prompt up to and including this block. */
export type CacheHint = { ttl: '5m' | '1h' }

/** A provider's proof of its own reasoning or call, sent back only to providers of the same `format`. */
export type Signature = { format: FormatName; value: string }

export type TextBlock = {
  type: 'text'
  text: string
  cache?: CacheHint
  signature?: Signature
  sources?: readonly Source[]
}
/** A model's refusal, if the format distinguishes it from text. */
export type RefusalBlock = { type: 'refusal'; text: string }
/** Visible or hidden reasoning. `redacted` is its encrypted form without text. */
export type ReasoningBlock = { type: 'reasoning'; text: string; signature?: Signature; redacted?: Signature }
/** A tool call of the model. `argumentsText` is the JSON text as received (`''` = no arguments). */
export type ToolCallBlock = {
  type: 'tool-call'
  id: string
  name: string
  argumentsText: string
  /** Whether this calls a custom tool. The arguments then have one field: the tool's free text. */
  isCustom?: true
  signature?: Signature
  cache?: CacheHint
}
export type ToolResultBlock = {
  type: 'tool-result'
  callId: string
  /** The tool's name, if the wire or the conversation contains it. */
  name?: string
  content: ResultBlock[]
  /** A result that is a JSON object on the wire (generate-content); `content` then contains its text. */
  json?: JsonObject
  isError: boolean
  cache?: CacheHint
}

/** Bytes in the request, a URL that the provider may fetch (the gateway never does), or a provider's file id. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  | { type: 'file-id'; id: string; format: FormatName }

export type ImageBlock = { type: 'image'; source: MediaSource; detail?: string; cache?: CacheHint }
export type FileBlock = {
  type: 'file'
  source: MediaSource | { type: 'text'; text: string; mediaType: string }
  filename?: string
  /** Context that the caller added to the document (messages `context`). */
  context?: string
  /** Whether the answer should cite it (messages). */
  hasCitations?: true
  cache?: CacheHint
}
export type AudioBlock = { type: 'audio'; mediaType: string; data: string; cache?: CacheHint }

export type MediaBlock = ImageBlock | FileBlock | AudioBlock
export type ResultBlock = TextBlock | MediaBlock
export type UserBlock = TextBlock | RefusalBlock | MediaBlock | ToolResultBlock
export type ModelBlock = TextBlock | RefusalBlock | ReasoningBlock | MediaBlock | ToolCallBlock
export type ContentBlock = UserBlock | ModelBlock

/** One turn; `system` turns may be anywhere in the conversation. chat/places.ts defines the turns that each kind of block may be in. */
export type Turn = ({ role: 'system' } & Said<TextBlock>) | UserTurn | ModelTurn
export type UserTurn = { role: 'user' } & Said<UserBlock>
export type ModelTurn = { role: 'assistant' } & Said<ModelBlock>
type Said<Block> = { content: Block[]; name?: string }

/** The syntax required of a custom tool's text. */
export type ToolGrammar = { syntax?: string; definition: string }

/** A function the model may call. `parameters` is a JSON Schema; missing: no arguments. */
export type Tool = {
  name: string
  description?: string
  parameters?: JsonObject
  strict?: boolean
  cache?: CacheHint
  /** Definition of a tool that takes free text. Providers that support such tools get it in place of {@link parameters}. */
  custom?: { description?: string; grammar?: ToolGrammar }
}

/** `names` restricts the choice to some tools, if the format supports that. */
export type ToolChoice =
  | { type: 'auto'; names?: string[] }
  | { type: 'required'; names?: string[] }
  | { type: 'none' }
  | { type: 'tool'; name: string }

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

/** How much to think (`effort`, or a token budget; -1 = the model decides), and whether the caller wants to see it. */
export type Reasoning = { effort?: Effort; budgetTokens?: number; visible?: boolean }

export const VERBOSITIES = ['low', 'medium', 'high'] as const
type Verbosity = (typeof VERBOSITIES)[number]

export type OutputShape =
  | { type: 'text' }
  | { type: 'json' }
  | { type: 'json-schema'; schema: JsonObject; name?: string; description?: string; strict?: boolean }

/** Asks for pictures in the answer, with text or without (`isOnly`). Examples of aspect ratio and size: `16:9`, `2K`. */
export type PicturesAsked = { isOnly?: true; aspectRatio?: string; imageSize?: string }

/** Numbers are as the caller sent them. Encoders clamp them to the provider's range and drop unsupported ones. */
export type Sampling = {
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  seed?: number
  stop?: string[]
  logprobs?: boolean
  topLogprobs?: number
}

/** The caller's name and kind of a tool. In the hub, a namespace's tool has a flat name; a `custom` one has its text in `input`. */
export type ToolOrigin = { kind: 'function' | 'custom'; name: string; namespace?: string }

export type ChatRequest = {
  model: string
  stream: boolean
  /** The system prompt before the conversation. */
  system: TextBlock[]
  /** Whether a message of the system prompt names its speaker (chat-completions). */
  hasSystemName?: true | undefined
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** False allows at most one tool call per answer. */
  parallelToolCalls?: boolean
  sampling: Sampling
  /** The caller's limit of output tokens, per choice. */
  maxOutputTokens?: number
  /** Number of answers; default 1. */
  choices: number
  reasoning?: Reasoning
  output: OutputShape
  /** Missing if the answer needs no pictures. */
  pictures?: PicturesAsked | undefined
  verbosity?: Verbosity
  userId?: string
  /** A key by which the provider may find an earlier, cached prompt. */
  cacheKey?: string
  serviceTier?: string
  /** Whether cache hints were sent as `cache_control` in a format whose providers do not all support it. */
  hasCacheControl?: true
  /** Models to try in order if the first fails; our extension of every format. */
  fallback: string[]
  /** The field that named the fallback models, if not `fallback`. */
  fallbackField?: 'models' | 'fallbacks'
  preferences?: RoutePreferences
  /** Whether a chat-completions caller used deprecated `functions`, and so expects `function_call` instead of tool calls. */
  wantsFunctionCall?: boolean
  /** If the caller wants a JSON value that is no object: the field of the hub's JSON object that contains it. */
  answerField?: string
  /** Tools whose name or shape differs in the caller's format, by the hub's tool name. */
  toolOrigins?: ReadonlyMap<string, ToolOrigin>
  /** Request fields that the answer repeats (responses). */
  answerEcho?: JsonObject
  /** Whether reasoning must include its proof, for callers that keep the conversation themselves (responses). */
  wantsEncryptedReasoning?: boolean
  /** Whether a chat-completions caller asked for the usage chunk. Other formats always send usage. */
  wantsUsage: boolean
  /** Whether the usage must include the answer's cost. */
  wantsCost?: true
  /** Whether the client is OpenRouter's own library. It fails if certain fields of a chat answer are null or missing. */
  forOpenRouter?: true
  /**
   * Parts that only providers of the caller's format support (provider-run tools, unknown blocks), as field and kind. Every `encodeRequest`
   * refuses a request with such parts, because an omission would change the meaning.
   */
  nativeOnly?: string[]
  /**
   * Earlier actions of provider-run tools in the conversation, such as `input.mcp_call`. The conversation also has their results as text.
   * So providers of other formats get the conversation without the actions, and the caller is informed.
   */
  hostedHistory?: string[]
  /** Images and files inside the parts in `nativeOnly` and `hostedHistory`. They cost tokens like any image or file. */
  nativeMedia?: (ImageBlock | FileBlock)[]
  /** Entries of `nativeOnly` that are tools priced per use, if the catalogue prices any. */
  serverTools?: ServerTool[]
  unlisted?: string[]
  /** Body fields that may cost more than the answer's tokens. */
  unpriced?: UnpricedField[]
  /** Protocol settings from the caller's headers, for providers of its format. */
  protocol?: Protocol
  /** Body fields that constrain the answer and that some formats can't express. */
  bound?: BoundField[]
  /** Top-level fields that the hub doesn't have, by their format; only that format's encoder reads them. */
  extensions: { [F in FormatName]?: { [field: string]: JsonValue | undefined } }
}

/** A field, as its format spells it. `code`: the error code of its refusal, for clients that handle it. */
export type UnpricedField = { format: FormatName; field: string; code?: string }

/**
 * A field, in its format's spelling, that only certain formats can express. It is not omitted without the caller's consent, since the
 * answer would change. `carriedBy`: other formats that can express it, in streams only if `inStreams`.
 */
export type BoundField = { field: string; carriedBy: ReadonlySet<FormatName>; inStreams?: true }

/** Optional features that some formats lack. */
export type Feature =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'frequencyPenalty'
  | 'presencePenalty'
  | 'seed'
  | 'stop'
  | 'choices'
  | 'logprobs'
  | 'verbosity'
  | 'reasoning'
  | 'userId'
  | 'cacheKey'
  | 'cacheHints'
  | 'serviceTier'
  | 'parallelToolCalls'
  | 'strictTools'
  | 'participants'
  | 'imageDetail'
  | 'citations'

/** A part of a request that is changed or omitted (`isLost`) for the provider's format. For the log; never quotes the caller. */
export type Warning =
  | { feature: Feature; detail: string; isLost: true }
  | { feature: string; detail: string; isLost?: undefined }
