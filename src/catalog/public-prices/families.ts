/** What the catalogue says of models by the family of their name. New entries and the default catalogue follow this one table. */
import type { FormatName } from '@/chat/format-name'
import families from './families.json'

type Family = {
  quirks: readonly string[]
  /** Missing where the tokenizer of this family has not been measured. */
  tokenizerSafetyFactor?: number
  /** A tool's cost in USD for each use, by its name, at the vendor's own service. */
  toolCosts?: Readonly<Record<string, number>>
}

/** A row holds for names that match `models`, unless an earlier row does. A vendor's last row is its newest, for coming models. */
const FAMILIES = (families as (Family & { models: string; formats: FormatName[] })[]).map((family) => ({
  ...family,
  pattern: new RegExp(family.models),
}))

/** The family of a model that is asked in `format`; one without quirks if its name is of none. */
export function familyOf(format: FormatName, model: string): Family {
  return FAMILIES.find(({ formats, pattern }) => formats.includes(format) && pattern.test(model)) ?? { quirks: [] }
}
