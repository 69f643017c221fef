/**
 * What JSON texts have in common that differ in nothing but one string: most pieces of a stream are such. Where a piece has been
 * understood, the next one of the same template need not be parsed to know what it says.
 */

/** All of a text but one string's content: `before` ends in the string's opening quote, `after` begins with its closing one. */
export type TextTemplate = { before: string; after: string }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20

/**
 * The template of `text` around the one string in it that says `word`. Undefined where that cannot be told for certain: the
 * word is empty or not written as it is read, there is another string like it, or anything in the text is written in escapes.
 */
export function templateAround(text: string, word: string): TextTemplate | undefined {
  if (!isPlain(word) || text.includes('\\')) return undefined
  const literal = `"${word}"`
  const at = text.indexOf(literal)
  if (at === -1 || text.indexOf(literal, at + 1) !== -1) return undefined
  return { before: text.slice(0, at + 1), after: text.slice(at + 1 + word.length) }
}

/** Whether both have the same text around the word. */
export function isSameTemplate(one: TextTemplate, other: TextTemplate): boolean {
  return one.before === other.before && one.after === other.after
}

/** The words of all texts of the template that `text` begins with, and where they end. */
export function wordsIn(text: string, { before, after }: TextTemplate): { words: string[]; end: number } {
  const words: string[] = []
  let end = 0
  while (text.startsWith(before, end)) {
    const start = end + before.length
    const quote = text.indexOf('"', start)
    if (quote === -1 || !text.startsWith(after, quote)) break
    const word = text.slice(start, quote)
    if (!isPlain(word)) break
    words.push(word)
    end = quote + after.length
  }
  return { words, end }
}

/** Whether JSON writes the word as it is, and the word is one. */
function isPlain(word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index)
    if (code < FIRST_PRINTABLE || code === QUOTE || code === BACKSLASH) return false
  }
  return word !== ''
}
