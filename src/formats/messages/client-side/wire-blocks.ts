/** Schemas of the content blocks of messages, one per type. */
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from '@/formats/messages/limits'
import { oneOf, orNull } from '@/lib/schemas'

export const ToolName = Type.String(LIMITS.toolNameChars)

/** Asks to cache the prompt up to this block. The time to live determines the price, so an unknown time is refused. */
export const CacheControl = Type.Optional(
  orNull(
    Type.Object({
      type: Type.Literal('ephemeral'),
      ttl: Type.Optional(oneOf(['5m', '1h'])),
    }),
    { title: 'MessageCacheControl', description: 'an object of type ephemeral with a ttl of 5m or 1h' },
  ),
)

const UrlSource = Type.Object({ type: Type.Literal('url'), url: Type.String({ minLength: 1 }) })
const FileIdSource = Type.Object({ type: Type.Literal('file'), file_id: Type.String({ minLength: 1 }) })
const Base64Source = Type.Object({
  type: Type.Literal('base64'),
  media_type: Type.String({ minLength: 1 }),
  data: Type.String(),
})
const TextSource = Type.Object({
  type: Type.Literal('text'),
  media_type: Type.Optional(Type.String()),
  data: Type.String(),
})
/** Any block: its type selects the schema, so that an error names the faulty field. */
const TypedBlock = Type.Object({ type: Type.String({ minLength: 1 }) })
const BlockSource = Type.Object({
  type: Type.Literal('content'),
  content: Type.Union([Type.String(), Type.Array(TypedBlock, LIMITS.blocks)]),
})

const Text = Type.Object({ type: Type.Literal('text'), text: Type.String(), cache_control: CacheControl })
const Image = Type.Object({
  type: Type.Literal('image'),
  source: Type.Union([Base64Source, UrlSource, FileIdSource], {
    description: 'an object of type base64 (media_type, data), url (url) or file (file_id)',
  }),
  cache_control: CacheControl,
})
const Document = Type.Object({
  type: Type.Literal('document'),
  source: Type.Union([Base64Source, TextSource, BlockSource, UrlSource, FileIdSource], {
    description: 'an object of type base64, text, content, url or file',
  }),
  title: Type.Optional(orNull(Type.String())),
  context: Type.Optional(orNull(Type.String())),
  cache_control: CacheControl,
})
const SearchResult = Type.Object({
  type: Type.Literal('search_result'),
  source: Type.String(),
  title: Type.String(),
  content: Type.Array(TypedBlock, LIMITS.blocks),
  cache_control: CacheControl,
})
const Thinking = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: Type.Optional(orNull(Type.String())),
})
const RedactedThinking = Type.Object({ type: Type.Literal('redacted_thinking'), data: Type.String() })
const ToolUse = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String({ minLength: 1 }),
  name: ToolName,
  input: Type.Object({}, { description: 'The arguments.' }),
  cache_control: CacheControl,
})
const ToolResult = Type.Object({
  type: Type.Literal('tool_result'),
  tool_use_id: Type.String({ minLength: 1 }),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(TypedBlock, LIMITS.blocks)], {
      description: 'a string or an array of content blocks, each with a type',
    }),
  ),
  is_error: Type.Optional(orNull(Type.Boolean())),
  cache_control: CacheControl,
})
const ToolReference = Type.Object({ type: Type.Literal('tool_reference'), tool_name: Type.String({ minLength: 1 }) })

export const BLOCKS = {
  text: Text,
  image: Image,
  document: Document,
  search_result: SearchResult,
  thinking: Thinking,
  redacted_thinking: RedactedThinking,
  tool_use: ToolUse,
  tool_result: ToolResult,
  tool_reference: ToolReference,
} as const

/** A block of a message: one of {@link BLOCKS}, or one that only the format's own providers support. */
export const AnyBlock = Type.Union([...Object.values(BLOCKS), TypedBlock], {
  title: 'MessageSentBlock',
  description: 'a content block with a type',
})

export type WireBlockType = keyof typeof BLOCKS
export type WireBlock<T extends WireBlockType = WireBlockType> = { [K in T]: Static<(typeof BLOCKS)[K]> }[T]
export type WireTypedBlock = Static<typeof TypedBlock>
export type WireCacheControl = Static<typeof CacheControl>
