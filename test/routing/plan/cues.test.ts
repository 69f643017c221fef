/** The lists of words: every language says the same things, and no word of one means something else in English. */
import { describe, expect, test } from 'bun:test'
import { formsOf, TRANSLATED_PARTS, TRANSLATED_WORDS } from '@/routing/plan/cue-translations'
import { CUE_WORDS, type Cue } from '@/routing/plan/cue-words'
import { countCues } from '@/routing/plan/cues'

const CUES = Object.keys(CUE_WORDS) as Cue[]
const ENGLISH = new Map(CUES.map((cue) => [cue, CUE_WORDS[cue].flatMap((line) => line.split(' '))]))
const MEANINGS: Record<Cue, number> = { hard: 9, easy: 10, constraints: 3, code: 1, mathematics: 2 }
const LANGUAGES = Object.entries({ ...TRANSLATED_WORDS, ...TRANSLATED_PARTS })

describe.each(LANGUAGES)('%s', (name, language) => {
  test('says what every language says', () => {
    for (const cue of CUES) expect(language[cue].split(',')).toHaveLength(MEANINGS[cue])
  })

  test('is understood, each form as what it says', () => {
    for (const cue of CUES) {
      for (const form of formsOf(language[cue])) expect(countCues(form)[cue], form).toBeGreaterThan(0)
    }
  })

  test('has no form that says something else in English', () => {
    if (!(name in TRANSLATED_WORDS)) return
    for (const cue of CUES) {
      const others = CUES.filter((other) => other !== cue).flatMap((other) => ENGLISH.get(other) ?? [])
      expect(formsOf(language[cue]).filter((form) => others.includes(form))).toEqual([])
    }
  })
})

test('the English list has each word once under a cue', () => {
  for (const words of ENGLISH.values()) expect(words).toHaveLength(new Set(words).size)
})
