/** What the tokenizer counts of a text, however busy the machine is: without its thread, and without its budget. */
import { countWithinBudget } from '@/catalog/count-within-budget'

/** The tokens of all of `text`. */
export function exactTokens(text: string): number {
  return countWithinBudget([text], () => 0).tokens
}
