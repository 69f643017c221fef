/**
 * Takes from each prompt the cues that no other prompt holds. A list of words that was written with the prompts in hand
 * judges what is left far worse; one that was not hardly changes its mind.
 */
import { formsOf, TRANSLATED_PARTS } from '@/routing/plan/cue-translations'
import { countCues } from '@/routing/plan/cues'

const WORD = /[a-z\u00df-\u024f\u0400-\u04ff][a-z'\u00df-\u024f\u0400-\u04ff-]+/giu
/** What the router takes for the beginning of many words. */
const PREFIX_CHARS = 6
const PARTS = Object.values(TRANSLATED_PARTS).flatMap((language) => Object.values(language).flatMap(formsOf))
/** As long as what it replaces, and no cue: an ideograph for the scripts that have them, dots for the others. */
const IDEOGRAPH = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g

/** A function that takes from one of `texts` what it alone holds. */
export function createOwnCueRemover(texts: readonly string[]): (text: string) => string {
  const holders = new Map<string, Set<string>>()
  for (const text of texts) {
    for (const cue of cuesOf(text)) holders.set(cue, (holders.get(cue) ?? new Set()).add(text))
  }
  const isOwn = (cue: string | undefined) => cue !== undefined && (holders.get(cue)?.size ?? 0) <= 1

  return (text) => {
    const words = text.replaceAll(WORD, (word) => (isOwn(wordCue(word)) ? 'z'.repeat(word.length) : word))
    return PARTS.filter(isOwn).reduce((rest, part) => rest.replaceAll(part, blankOf(part)), words)
  }
}

function cuesOf(text: string): string[] {
  const words = (text.match(WORD) ?? []).flatMap((word) => wordCue(word) ?? [])
  return [...new Set([...words, ...PARTS.filter((part) => text.includes(part))])]
}

/** The entry of the list that `word` falls under. */
function wordCue(word: string): string | undefined {
  const lower = word.toLowerCase()
  if (!isCue(lower)) return undefined
  const beginning = lower.slice(0, PREFIX_CHARS)
  return isCue(beginning) ? beginning : lower
}

function isCue(word: string): boolean {
  const { hard, easy, constraints, code, mathematics } = countCues(word)
  return hard + easy + constraints + code + mathematics > 0
}

function blankOf(part: string): string {
  return part.replaceAll(IDEOGRAPH, '口').replaceAll(/[^口]/g, '·')
}
