/** Reads usage labels (tags and app) from headers. No provider gets them. */
import type { RequestLabels } from '@/ledger/usage-record'
import { MAX_TAGS, readTag, tagName } from '@/usage/tags'

export const TAGS_HEADER = 'x-svc-tags'
export const IGNORED_TAGS_HEADER = 'x-svc-tags-ignored'
export const APP_ADDRESS_HEADER = 'http-referer'
export const APP_TITLE_HEADERS = ['x-openrouter-title', 'x-title'] as const

const MAX_TAGS_BYTES = 512
const MAX_TITLE_CHARS = 64
const MAX_ADDRESS_CHARS = 2_048
/** Maximum characters of each invalid tag in the response header, and maximum number of such tags. */
const MAX_NAMED_CHARS = 32
const MAX_NAMED = 16

/** The tags; `ignored` is the value of {@link IGNORED_TAGS_HEADER}, if there are invalid ones. */
type ReadTags = { tags: string[]; ignored: string | undefined }

/** A request's labels; undefined without any. Never throws: invalid labels must not fail a request. */
export function readLabels(headers: Headers): { labels: RequestLabels; ignored: string | undefined } | undefined {
  const tagText = headers.get(TAGS_HEADER)
  const address = headers.get(APP_ADDRESS_HEADER)
  const title = headers.get(APP_TITLE_HEADERS[0]) ?? headers.get(APP_TITLE_HEADERS[1])
  if (tagText === null && address === null && title === null) return undefined
  const { tags, ignored } = readTags(tagText ?? '')
  const app = appOf(address, title)
  return { labels: { ...(tags.length > 0 && { tags }), ...(app !== undefined && { app }) }, ignored }
}

/** At most {@link MAX_TAGS} tags, the first of each name. They are sorted, so that equal sets give equal texts. */
function readTags(text: string): ReadTags {
  if (text.length > MAX_TAGS_BYTES) return { tags: [], ignored: '*' }
  const tags = new Map<string, string>()
  const ignored: string[] = []
  for (const part of text.split(',')) {
    const said = part.trim()
    if (said === '') continue
    const tag = readTag(said)
    if (tag === undefined || tags.has(tagName(tag)) || tags.size === MAX_TAGS) ignored.push(nameable(said))
    else tags.set(tagName(tag), tag)
  }
  return {
    tags: [...tags.values()].toSorted(),
    ignored: ignored.length === 0 ? undefined : ignored.slice(0, MAX_NAMED).join(', '),
  }
}

function nameable(said: string): string {
  const name = said.split('=', 1)[0] || said
  return name.slice(0, MAX_NAMED_CHARS).replace(/[^\x21-\x7e]/g, '?')
}

/** The app's title, or else the origin of its address; undefined for a local address. */
function appOf(address: string | null, title: string | null): string | undefined {
  const own = title?.trim().slice(0, MAX_TITLE_CHARS).trim()
  if (own) return own
  if (address === null || address.length > MAX_ADDRESS_CHARS) return undefined
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || isThisMachine(url.hostname)) return undefined
  return url.origin
}

function isThisMachine(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])$/.test(host)
}
