/**
 * LiteLLM's list of models, condensed: limits, capabilities and dates that the first source lacks, and prices of models that it doesn't
 * have.
 */
import type { Capability } from '@/catalog/types'
import text from './second-source.jsonl' with { type: 'text' }

/** USD per 1,000,000 tokens; `above`: the length of input, in tokens, above which these prices apply. */
type SecondPrices = {
  above?: number
  input: number
  /** Missing for models that embed. */
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
}

/** One line of the file. A model that is no `chat`, `chat-by-responses` or `embedding` only has its kind. */
export type SecondModel = {
  /** The provider's name in the first source. */
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

/** The version in use and its release day. */
export const SECOND_SOURCE = `${source} of ${releasedOn}`

/** The models of the second source, in the file's order. */
export const SECOND_MODELS = lines.map((line) => JSON.parse(line) as SecondModel)

const byName = new Map(SECOND_MODELS.map((model) => [`${model.provider} ${model.id}`, model]))

/** The end of a name that means one version of a model: a day, or `latest`. */
const VERSION = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$/

/** The model with this name, or else with this name without its version; undefined if neither is listed. */
export function findSecond(provider: string, model: string): SecondModel | undefined {
  return byName.get(`${provider} ${model}`) ?? byName.get(`${provider} ${model.replace(VERSION, '')}`)
}
