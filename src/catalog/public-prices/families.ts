/** Catalogue settings by model family, which the model's name decides. Suggested entries and the default catalogue both use this table. */
import type { FormatName } from '@/chat/format-name'
import families from './families.json'

type Family = {
  quirks: readonly string[]
  /** Undefined if the family's tokenizer was not measured. */
  tokenizerSafetyFactor?: number
  /** A tool's cost in USD for each use, by its name, at the vendor's own service. */
  toolCosts?: Readonly<Record<string, number>>
}

/** A row applies to names that match `models`, unless an earlier row matches. A vendor's last row is for its newest and future models. */
const FAMILIES = (families as (Family & { models: string; formats: FormatName[] })[]).map((family) => ({
  ...family,
  pattern: new RegExp(family.models),
}))

/** The family of a model that is called in `format`; without quirks if no family matches the name. */
export function familyOf(format: FormatName, model: string): Family {
  return FAMILIES.find(({ formats, pattern }) => formats.includes(format) && pattern.test(model)) ?? { quirks: [] }
}
