import type { ListedModel } from '@/catalog/public-prices/suggest-models'
import type { Provider } from '@/catalog/types'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, textOf } from '@/lib/json'
import { readBounded } from './client'
import { usualHeaders } from './endpoints'
import { describeFailure, type UpstreamFailure } from './failure'

type ModelList = { kind: 'listed'; models: ListedModel[] } | { kind: 'failed'; why: string }

const TIMEOUT_MS = 30_000
const MAX_PAGES = 100
const MAX_PAGE_BYTES = 32 * 1024 * 1024
const MAX_NAME = 256

/** Gets a provider's list of models with its first key, each model once. `why` is a text for operators without secrets. */
export async function listModels(provider: Provider): Promise<ModelList> {
  const models = new Map<string, ListedModel>()
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await readPage(provider, cursor)
    if ('kind' in page) return { kind: 'failed', why: describeFailure(page, provider) }
    for (const model of page.models) if (!models.has(model.id)) models.set(model.id, model)
    if (page.next === undefined) return { kind: 'listed', models: [...models.values()] }
    if (cursors.has(page.next)) break
    cursors.add(page.next)
    cursor = page.next
  }
  return { kind: 'failed', why: `${provider.name}: its list of models does not end` }
}

type Page = { models: ListedModel[]; next: string | undefined }

async function readPage(provider: Provider, cursor: string | undefined): Promise<Page | UpstreamFailure> {
  const [key] = provider.keys
  const format = FORMATS.get(provider.format)
  assert(key && format, 'a provider that is offered has a key and a format')
  try {
    const response = await fetch(provider.dialect.modelList.url(provider, cursor), {
      headers: usualHeaders(provider, key, false),
      // Following a redirect would send our key to an address that the answer chooses.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const json = parseJson(new TextDecoder().decode(await readBounded(response, MAX_PAGE_BYTES)))
    if (!response.ok) return { kind: 'refused', error: format.decodeError(response.status, json) }
    const page = provider.dialect.modelList.readPage(json)
    if (!page) return { kind: 'malformed', detail: 'its answer is no list of models' }
    const models = page.entries.flatMap((entry) => (isJsonObject(entry) ? (readModel(entry) ?? []) : []))
    return { models, next: page.next }
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error'
    return name === 'TimeoutError' ? { kind: 'timeout', phase: 'total' } : { kind: 'unreachable', detail: name }
  }
}

/** Reads the fields for which vendors and services use different names. */
function readModel(entry: JsonObject): ListedModel | undefined {
  const id = textOf(entry.id) ?? textOf(entry.name)?.replace(/^models\//, '')
  if (!id || id.length > MAX_NAME) return undefined
  const name = textOf(entry.display_name) || textOf(entry.displayName)
  const created = secondsOf(entry.created ?? entry.created_at)
  const contextLength = countOf(
    entry.inputTokenLimit ??
      entry.max_input_tokens ??
      entry.context_length ??
      entry.context_window ??
      entry.max_context_length,
  )
  const maxOutputTokens = countOf(
    entry.outputTokenLimit ?? entry.max_completion_tokens ?? entry.max_output_tokens ?? entry.max_tokens,
  )
  const isRetired = entry.active === false || entry.archived === true || isPast(entry.deprecation)
  return {
    id,
    ...(name && { name }),
    ...(created !== undefined && { created }),
    ...(contextLength !== undefined && { contextLength }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(isRetired && { isRetired }),
  }
}

function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined
}

/** Unix seconds of a time after 1970, given as seconds or as text. */
function secondsOf(value: JsonValue | undefined): number | undefined {
  const seconds = typeof value === 'string' ? Math.floor(Date.parse(value) / 1000) : value
  return countOf(Number.isFinite(seconds) ? seconds : undefined)
}

function isPast(day: JsonValue | undefined): boolean {
  return typeof day === 'string' && Date.parse(day) < Date.now()
}
