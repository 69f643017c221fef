/** Makes the training set: every collection's prompts as a request would be read, weighed so that no large collection outweighs the rest. */
import { sampleTexts } from '@/routing/difficulty/sample'
import type { Example } from './example'
import { encodeText, type TrainingPrompt, withoutRare } from './learn'
import { FAMILIES, type Source } from './sources'
import { swapMaterial } from './swap'

/** What few collections hold tells the collection, not the difficulty. */
const LEAST_COLLECTIONS = 5
/** How much the made-up pairs of instruction and material count together. */
const SWAPPED_WEIGHT = 600
const MAX_WEIGHT = 2

/** The training prompts of `examples`, which are of `sources`, and of the pairs that are made from them. */
export function trainingSet(sources: readonly Source[], examples: readonly Example[]): TrainingPrompt[] {
  const all = [...examples, ...swapMaterial(examples)]
  const bySource = Map.groupBy(all, ({ source }) => source)
  const names = [...bySource.keys()]
  const languages = ['en', ...new Set(all.map(({ language }) => language))].filter(isFirst)
  const prompts = all.map((example) => {
    const source = sources.find(({ name }) => name === example.source)
    const { text, chars } = sampleTexts([example.text])
    const share = (source?.weight ?? SWAPPED_WEIGHT) / (bySource.get(example.source)?.length ?? 1)
    return {
      ...encodeText(text, chars),
      label: example.label,
      weight: Math.min(MAX_WEIGHT, share),
      family: source ? FAMILIES.indexOf(source.family) : 0,
      language: languages.indexOf(example.language),
      source: names.indexOf(example.source),
    }
  })
  return withoutRare(prompts, LEAST_COLLECTIONS)
}

function isFirst<T>(value: T, index: number, values: readonly T[]): boolean {
  return values.indexOf(value) === index
}
