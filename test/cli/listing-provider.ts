/** Providers as `catalog suggest` meets them: each lists its models as its vendor does, page by page, and can do all that a trial asks. */
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { ableRespond } from '@test/upstream/trial/able-provider'
import { SECOND_MODELS } from '@/catalog/public-prices/second-source'
import type { FormatName } from '@/chat/format-name'

export const KEY = 'sk-of-the-operator'
const CREATED = 1_790_000_000
/** Models in one page, whatever size is asked for. */
const PAGE = 20

type Listed = { ids: readonly string[]; url: URL }

/** A page of each vendor's list. */
const LISTS = {
  openai: ({ ids }: Listed) => ({
    object: 'list',
    data: ids.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'system' })),
  }),
  anthropic({ ids, url }: Listed) {
    const after = url.searchParams.get('after_id')
    const begin = after === null ? 0 : ids.indexOf(after) + 1
    const page = ids.slice(begin, begin + PAGE)
    const created_at = new Date(CREATED * 1000).toISOString()
    return {
      data: page.map((id) => ({ type: 'model', id, display_name: `The ${id}`, created_at })),
      ...{ has_more: begin + PAGE < ids.length, first_id: page[0] ?? null, last_id: page.at(-1) ?? null },
    }
  },
  google({ ids, url }: Listed) {
    const begin = Number(url.searchParams.get('pageToken') ?? 0)
    const page = ids.slice(begin, begin + PAGE)
    return {
      models: page.map((id) => ({
        name: `models/${id}`,
        displayName: id,
        inputTokenLimit: 1_048_576,
        outputTokenLimit: 65_536,
      })),
      ...(begin + PAGE < ids.length && { nextPageToken: String(begin + PAGE) }),
    }
  },
  /** As Together lists them. */
  array: ({ ids }: Listed) => ids.map((id) => ({ id, object: 'model', created: 0, display_name: id })),
}

const KEY_HEADERS: Readonly<Record<string, string>> = { anthropic: 'x-api-key', google: 'x-goog-api-key' }

/** Starts a provider that lists `ids`. Who has no key is refused. */
export function startListingProvider(
  list: keyof typeof LISTS,
  format: FormatName,
  ids: readonly string[],
): ScriptedUpstream {
  const header = KEY_HEADERS[list]
  return startUpstream((call, index) => {
    const { path, headers } = call
    const sent = header === undefined ? headers.get('authorization')?.replace(/^Bearer /, '') : headers.get(header)
    if (sent !== KEY)
      return Response.json({ error: { type: 'authentication_error', message: `wrong key ${sent}` } }, { status: 401 })
    const url = new URL(path, 'http://provider')
    if (!/\/models$/.test(url.pathname)) {
      return ableRespond(url.pathname.endsWith('/responses') ? 'responses' : format)(call, index)
    }
    if (list === 'anthropic' && headers.get('anthropic-version') === null) return new Response('{}', { status: 400 })
    return Response.json(LISTS[list]({ ids, url }))
  })
}

/** Sixty names of a vendor's list: `first`, then those that are known of it, then some that nobody knows. */
export function sixtyModels(vendor: string, first: readonly string[]): string[] {
  const known = SECOND_MODELS.flatMap(({ provider, id }) => (provider === vendor && !id.startsWith('ft:') ? [id] : []))
  const unknown = Array.from({ length: 60 }, (_, index) => `unheard-of-${index}`)
  return [...new Set([...first, ...known.slice(0, 55 - first.length), ...unknown])].slice(0, 60)
}
