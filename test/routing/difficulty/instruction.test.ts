/** Splitting a prompt into its instruction and its material. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { splitPrompt } from '@/routing/difficulty/instruction'

const PROOF = 'Prove that every compact Hausdorff space is normal.'

describe('material', () => {
  test.each([
    [`Translate: '${PROOF}'`, PROOF],
    [`Fix the spelling: ${PROOF}`, PROOF],
    [`Übersetze ins Englische: „${PROOF}“`, PROOF],
    [`把下面的句子翻译成英文：证明根号二是无理数，并且说明每一步。`, '证明根号二是无理数，并且说明每一步。'],
    [`What does this do?\n\`\`\`js\nlet a = 1\n\`\`\``, 'let a = 1'],
  ])('the material of %s is the text behind the instruction', (text, material) => {
    const { instruction, payload } = splitPrompt(text)
    expect(payload).toContain(material)
    expect(instruction).not.toContain(material)
  })

  test('the long paragraphs of a prompt are its material', () => {
    const passage = 'The ferry left before dawn. '.repeat(40).trim()
    for (const text of [`Where did it go?\n\n${passage}`, `${passage}\n\nWhere did it go?`]) {
      expect(splitPrompt(text)).toEqual({ instruction: 'Where did it go?', payload: passage })
    }
  })
})

describe('texts without material', () => {
  test.each([
    PROOF,
    'Meet me at 10:30',
    'Open http://example.test/page',
    'The word “ephemeral”',
    '',
    'a'.repeat(5_000),
  ])('a text without separate material is all instruction: %#', (text) => {
    expect(splitPrompt(text)).toEqual({ instruction: text, payload: '' })
  })
})

test('unusual texts are split without an error, and their parts are hardly longer than the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
      const { instruction, payload } = splitPrompt(text)
      expect(payload.length).toBeLessThanOrEqual(text.length + 10)
      expect(instruction.length).toBeLessThanOrEqual(text.length + 100)
    }),
  )
})
