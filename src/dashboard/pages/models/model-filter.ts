/** Filters and sorts the models page. */
import type { ModelBody } from '@/dashboard/catalogue'

export type ModelOrder = 'catalogue' | 'input-price' | 'output-price' | 'context' | 'newest'
export type ModelFilter = { search: string; capabilities: readonly string[]; order: ModelOrder }

export const ORDERS: readonly { value: ModelOrder; label: string }[] = [
  { value: 'catalogue', label: 'Recommended' },
  { value: 'input-price', label: 'Input price, lowest first' },
  { value: 'output-price', label: 'Output price, lowest first' },
  { value: 'context', label: 'Context, longest first' },
  { value: 'newest', label: 'Newest first' },
]

export const CAPABILITY_NAMES: Readonly<Record<string, string>> = {
  tools: 'Tools',
  images: 'Images',
  files: 'Files',
  audio: 'Audio',
  reasoning: 'Reasoning',
  'json-schema': 'JSON schema',
}

/** The models that match every search word and have every capability, sorted. */
export function filterModels(models: readonly ModelBody[], { search, capabilities, order }: ModelFilter): ModelBody[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = models.filter((model) => {
    const text = [model.id, model.name, model.ownedBy, ...model.providers].join(' ').toLowerCase()
    return words.every((word) => text.includes(word)) && capabilities.every((name) => model.capabilities.includes(name))
  })
  const compare = COMPARE[order]
  return compare ? found.sort(compare) : found
}

type Compare = (one: ModelBody, other: ModelBody) => number

/** Prices become numbers only for sorting; the page shows the exact texts. */
const COMPARE: Record<ModelOrder, Compare | undefined> = {
  catalogue: undefined,
  'input-price': (one, other) => Number(one.prices.input) - Number(other.prices.input),
  'output-price': (one, other) => Number(one.prices.output) - Number(other.prices.output),
  context: (one, other) => other.contextLength - one.contextLength,
  newest: (one, other) => other.created.localeCompare(one.created),
}
