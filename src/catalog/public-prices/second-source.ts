/** Models as LiteLLM lists them, condensed: limits, capabilities and dates that our first source lacks, and prices of models that it does not know. */
import type { Capability } from '@/catalog/types'
import text from './second-source.jsonl' with { type: 'text' }

/** USD per 1,000,000 tokens; `above`: the length of input, in tokens, above which they hold. */
type SecondPrices = {
  above?: number
  input: number
  /** Missing for models that embed. */
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
}

/** One line of the file. A model that is no `chat`, `chat-by-responses` or `embedding` has nothing but its kind. */
export type SecondModel = {
  /** As the first source names it. */
  provider: string
  id: string
  kind: string
  /** The longest input in tokens. */
  input?: number
  /** The longest output in tokens. */
  output?: number
  capabilities?: Capability[]
  retires?: string
  prices?: SecondPrices[]
}

const [head = '{}', ...lines] = text.trimEnd().split('\n')
const { source, releasedOn } = JSON.parse(head) as { source: string; releasedOn: string }

/** The version in use and the day on which it came out. */
export const SECOND_SOURCE = `${source} of ${releasedOn}`

/** In the file's order. */
export const SECOND_MODELS = lines.map((line) => JSON.parse(line) as SecondModel)

const byName = new Map(SECOND_MODELS.map((model) => [`${model.provider} ${model.id}`, model]))

/** Names end with a day, or with `latest`, if one version is meant. */
const VERSION = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$/

/** The model of this name, or else the one whose name lacks the day at its end; undefined if it is not listed. */
export function findSecond(provider: string, model: string): SecondModel | undefined {
  return byName.get(`${provider} ${model}`) ?? byName.get(`${provider} ${model.replace(VERSION, '')}`)
}
