/** Decodes blocks with media: images, documents, search results, tool references. */

import type { CacheHint, FileBlock, ImageBlock, MediaSource, TextBlock } from '@/chat/request'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { checkBlock, isKnownBlock } from './wire'
import type { WireBlock, WireCacheControl, WireTypedBlock } from './wire-blocks'

type Material = TextBlock | ImageBlock | FileBlock
type MaterialWire = WireBlock<'image' | 'document' | 'search_result' | 'tool_reference'>
type DocumentSource = WireBlock<'document'>['source']

const MATERIAL: ReadonlySet<string> = new Set(['image', 'document', 'search_result', 'tool_reference'])

/** Decodes one validated block. A document may become several blocks: its images follow its text. */
export function decodeMedia(block: MaterialWire, path: string): Material[] {
  const cache = decodeCache(block.type === 'tool_reference' ? undefined : block.cache_control)
  switch (block.type) {
    case 'image':
      return [{ type: 'image', source: decodeSource(block.source), cache }]
    case 'document':
      return decodeDocument(block, path)
    case 'search_result':
      return [
        {
          type: 'file',
          source: { type: 'text', text: joinTexts(block.content, `${path}.content`), mediaType: 'text/plain' },
          filename: block.title,
          context: block.source,
          ...citationsOf(block),
          cache,
        },
      ]
    case 'tool_reference':
      return [{ type: 'text', text: `The tool ${block.tool_name} is available.` }]
  }
}

/** Decodes a tool result's content. Blocks of unknown types are kept as JSON text. */
export function decodeResultContent(content: string | readonly WireTypedBlock[], path: string): Material[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.flatMap((block, index) => decodeResultBlock(block, `${path}[${index}]`))
}

function decodeResultBlock(block: WireTypedBlock, path: string): Material[] {
  if (!isKnownBlock(block) || !(MATERIAL.has(block.type) || block.type === 'text')) {
    return [{ type: 'text', text: JSON.stringify(asWritten(block as JsonObject)) }]
  }
  checkBlock(block.type, block, path)
  if (block.type === 'text') return [{ type: 'text', text: block.text, cache: decodeCache(block.cache_control) }]
  return decodeMedia(block as MaterialWire, path)
}

function decodeSource(source: Exclude<DocumentSource, { type: 'text' | 'content' }>): MediaSource {
  switch (source.type) {
    case 'base64':
      return { type: 'base64', mediaType: source.media_type, data: source.data }
    case 'url':
      return { type: 'url', url: source.url }
    case 'file':
      return { type: 'file-id', id: source.file_id, format: 'messages' }
  }
}

function decodeDocument(block: WireBlock<'document'>, path: string): Material[] {
  const { source } = block
  const about = {
    type: 'file',
    filename: block.title ?? undefined,
    context: block.context ?? undefined,
    ...citationsOf(block),
    cache: decodeCache(block.cache_control),
  } as const
  switch (source.type) {
    case 'text':
      return [{ ...about, source: { type: 'text', text: source.data, mediaType: source.media_type ?? 'text/plain' } }]
    case 'content':
      return decodeContentDocument(about, source.content, `${path}.source.content`)
    case 'url':
      return [{ ...about, source: { type: 'url', url: source.url, mediaType: 'application/pdf' } }]
    default:
      return [{ ...about, source: decodeSource(source) }]
  }
}

function citationsOf({ citations }: WireTypedBlock & JsonObject): Pick<FileBlock, 'hasCitations'> {
  return isJsonObject(citations) && citations.enabled === true ? { hasCitations: true } : {}
}

function decodeContentDocument(
  about: Omit<FileBlock, 'source'>,
  content: string | readonly WireTypedBlock[],
  path: string,
): Material[] {
  const parts = decodeResultContent(content, path)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  const others = parts.filter((part) => part.type !== 'text')
  return [{ ...about, source: { type: 'text', text, mediaType: 'text/plain' } }, ...others]
}

function joinTexts(content: readonly WireTypedBlock[], path: string): string {
  return decodeResultContent(content, path)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n\n')
}

/** Decodes `cache_control`; the default time to live is five minutes. */
export function decodeCache(control: WireCacheControl | undefined): CacheHint | undefined {
  return control ? { ttl: control.ttl ?? '5m' } : undefined
}
