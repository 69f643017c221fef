/** What a conversation is, in no format's own words: the hub that every format decodes into and encodes from. */

import type { JsonObject, JsonValue } from '@/lib/json'
import type { FormatName } from './format-name'
import type { RoutePreferences } from './preferences'
import type { Protocol } from './protocol'
import type { ServerTool } from './server-tools'
import type { Source } from './sources'

/** A hint that the prompt up to and including this block is worth caching. */
export type CacheHint = { ttl: '5m' | '1h' }

/** A provider's proof of its own reasoning or call, to be sent back only to providers of the same `format`. */
export type Signature = { format: FormatName; value: string }

export type TextBlock = {
  type: 'text'
  text: string
  cache?: CacheHint
  signature?: Signature
  /** The sources of an answer. */
  sources?: readonly Source[]
}
/** A model's declining answer, where the format tells it apart from text. */
export type RefusalBlock = { type: 'refusal'; text: string }
/** Visible or hidden thinking. `redacted` is the encrypted form that carries no text. */
export type ReasoningBlock = { type: 'reasoning'; text: string; signature?: Signature; redacted?: Signature }
/** A call the model made. `argumentsText` is the JSON text exactly as the wire had it (`''` = no arguments). */
export type ToolCallBlock = {
  type: 'tool-call'
  id: string
  name: string
  argumentsText: string
  /** Whether it is the call of a custom tool, whose free text is the only field of its arguments. */
  isCustom?: true
  signature?: Signature
  cache?: CacheHint
}
export type ToolResultBlock = {
  type: 'tool-result'
  callId: string
  /** The tool's name where the wire carries it (generate-content) or the conversation tells it. */
  name?: string
  content: ResultBlock[]
  /** A result that is a JSON object on the wire (generate-content); `content` then holds its text. */
  json?: JsonObject
  isError: boolean
  cache?: CacheHint
}

/** Bytes in the request, an address the provider may fetch (the gateway never does), or a provider's own file id. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  | { type: 'file-id'; id: string; format: FormatName }

export type ImageBlock = { type: 'image'; source: MediaSource; detail?: string; cache?: CacheHint }
export type FileBlock = {
  type: 'file'
  source: MediaSource | { type: 'text'; text: string; mediaType: string }
  filename?: string
  /** Context the caller gave beside the document (messages `context`). */
  context?: string
  /** Whether the answer is to cite it (messages). */
  hasCitations?: true
  cache?: CacheHint
}
export type AudioBlock = { type: 'audio'; mediaType: string; data: string; cache?: CacheHint }

/** Pictures, sound and files. */
export type MediaBlock = ImageBlock | FileBlock | AudioBlock
/** The content of a tool's result. */
export type ResultBlock = TextBlock | MediaBlock
/** The content of a user's turn. */
export type UserBlock = TextBlock | RefusalBlock | MediaBlock | ToolResultBlock
/** The content of the model's own turn. */
export type ModelBlock = TextBlock | RefusalBlock | ReasoningBlock | MediaBlock | ToolCallBlock
export type ContentBlock = UserBlock | ModelBlock

/** One turn; `system` turns stand in the middle of the conversation. chat/places.ts says which blocks go where. */
export type Turn = ({ role: 'system' } & Said<TextBlock>) | UserTurn | ModelTurn
export type UserTurn = { role: 'user' } & Said<UserBlock>
export type ModelTurn = { role: 'assistant' } & Said<ModelBlock>
type Said<Block> = { content: Block[]; name?: string }

/** The form that the text for a custom tool must have. */
export type ToolGrammar = { syntax?: string; definition: string }

/** A function the model may call. `parameters` is JSON Schema; absent = takes no arguments. */
export type Tool = {
  name: string
  description?: string
  parameters?: JsonObject
  strict?: boolean
  cache?: CacheHint
  /** For a tool that takes free text: its form at providers that know such tools, instead of {@link parameters}. */
  custom?: { description?: string; grammar?: ToolGrammar }
}

/** `names` restricts the choice to some of the tools, where the format can say so. */
export type ToolChoice =
  | { type: 'auto'; names?: string[] }
  | { type: 'required'; names?: string[] }
  | { type: 'none' }
  | { type: 'tool'; name: string }

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

/** How hard to think (`effort`, or a budget in tokens; -1 = the model decides) and whether the caller wants to read it. */
export type Reasoning = { effort?: Effort; budgetTokens?: number; visible?: boolean }

/** How much to say. */
export const VERBOSITIES = ['low', 'medium', 'high'] as const
type Verbosity = (typeof VERBOSITIES)[number]

/** What the answer must look like. */
export type OutputShape =
  | { type: 'text' }
  | { type: 'json' }
  | { type: 'json-schema'; schema: JsonObject; name?: string; description?: string; strict?: boolean }

/** Every number is as the caller gave it; encoders clamp to the provider's range and drop what it lacks. */
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

/**
 * The caller's own name or kind of a tool that the hub has differently: a member of a namespace, which has one flat name in the
 * hub, or a `custom` tool, whose free text is the field `input` of a function in the hub.
 */
export type ToolOrigin = { kind: 'function' | 'custom'; name: string; namespace?: string }

export type ChatRequest = {
  /** The model or tier as the caller named it. */
  model: string
  stream: boolean
  /** The system prompt that precedes the conversation. */
  system: TextBlock[]
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** false = at most one tool call per answer. */
  parallelToolCalls?: boolean
  sampling: Sampling
  /** The caller's own limit on output tokens, per choice. */
  maxOutputTokens?: number
  /** How many answers are wanted; 1 unless the caller asked for more. */
  choices: number
  reasoning?: Reasoning
  output: OutputShape
  verbosity?: Verbosity
  /** The caller's end user, for the provider's abuse detection. */
  userId?: string
  /** A key under which the provider may route to a warm prompt cache. */
  cacheKey?: string
  serviceTier?: string
  /** Whether the body says its cache hints as `cache_control` in a format that not all providers read it in. */
  hasCacheControl?: true
  /** Models to try in order when the first fails; an extension of ours in every format. */
  fallback: string[]
  /** The field that names them, where it is not `fallback`. */
  fallbackField?: 'models' | 'fallbacks'
  /** The caller's other wishes for routing; undefined if there are none. */
  preferences?: RoutePreferences
  /** Whether a chat-completions caller offered deprecated `functions`, and so waits for `function_call` in place of tool calls. */
  wantsFunctionCall?: boolean
  /** The field of the answer's object that is the answer: the hub asks for an object where the caller wants a bare word. */
  answerField?: string
  /** By the hub's name of a tool, where the caller's format has another name or shape for it. */
  toolOrigins?: ReadonlyMap<string, ToolOrigin>
  /** Fields of the request that the answer repeats (responses). */
  answerEcho?: JsonObject
  /** Whether the answer's reasoning is to carry its proof for a caller that keeps the conversation itself (responses). */
  wantsEncryptedReasoning?: boolean
  /** Whether a chat-completions caller asked for the usage chunk. The other formats always show usage. */
  wantsUsage: boolean
  /** Whether the answer's usage is to say what the answer cost. */
  wantsCost?: true
  /** Whether OpenRouter's own library asks, which wants some fields of chat answers never null and others always there. */
  forOpenRouter?: true
  /**
   * Parts that only a provider of the caller's own format can carry (a tool that runs at the provider, a block unknown to the
   * hub), each with its field and kind. Every `encodeRequest` refuses a request with any, because an omission would change the
   * meaning.
   */
  nativeOnly?: string[]
  /**
   * Actions of a provider's own tools in earlier answers, by their place, e.g. `input.mcp_call`. Their resulting text is in the
   * history too, and a refusal would end the conversation at the next model. So a provider of another format gets the rest, and
   * the caller is informed.
   */
  hostedHistory?: string[]
  /** Pictures and files inside what `nativeOnly` and `hostedHistory` name: they are read, and cost, like those of any turn. */
  nativeMedia?: (ImageBlock | FileBlock)[]
  /** Those of `nativeOnly` that are tools with a price per use, where the catalogue names one. */
  serverTools?: ServerTool[]
  /** Fields of the caller's body that are not passed on unless the catalogue says so, most because no list of its format knows them. */
  unlisted?: string[]
  /** Fields of the caller's body that may cost more than the tokens of the answer. */
  unpriced?: UnpricedField[]
  /** What its headers ask of providers of the caller's own format. */
  protocol?: Protocol
  /** Fields of the caller's body that constrain the answer and that not every format can carry. */
  bound?: BoundField[]
  /** Top-level fields that the hub has no word for, by the format they came in; only that format's encoder reads them. */
  extensions: { [F in FormatName]?: { [field: string]: JsonValue | undefined } }
}

/** A field as its format spells it; `code` tells clients that know what to do when it is refused. */
export type UnpricedField = { format: FormatName; field: string; code?: string }

/**
 * A field, as its format spells it, that only certain formats can carry. It is not omitted without the caller's consent, since
 * the answer would change. `carriedBy`: other formats that can carry it in answers of one piece.
 */
export type BoundField = { field: string; carriedBy: ReadonlySet<FormatName> }

/** What a request may ask for that not every format has a word for. */
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

/**
 * A part of a request that is changed or omitted (`isLost`) in the provider's format: in words for a log, never the caller's
 * own.
 */
export type Warning =
  | { feature: Feature; detail: string; isLost: true }
  | { feature: string; detail: string; isLost?: undefined }
