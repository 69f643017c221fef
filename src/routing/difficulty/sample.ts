/** Takes from a long prompt the ends, where the instruction is: what is read costs the same for a kilobyte and for a megabyte. */

/** A text longer than both together is read at its ends. */
const HEAD_CHARS = 900
const TAIL_CHARS = 900

/** A bounded sample of one message's texts, and how long they are together. */
export function sampleTexts(texts: readonly string[]): { text: string; chars: number } {
  let chars = 0
  for (const text of texts) chars += text.length
  if (chars <= HEAD_CHARS + TAIL_CHARS) return { text: texts.length === 1 ? (texts[0] ?? '') : texts.join('\n'), chars }
  let head = ''
  for (const text of texts) {
    head += text.slice(0, HEAD_CHARS - head.length)
    if (head.length >= HEAD_CHARS) break
  }
  let tail = ''
  for (let index = texts.length - 1; index >= 0 && tail.length < TAIL_CHARS; index--) {
    tail = (texts[index] ?? '').slice(-(TAIL_CHARS - tail.length)) + tail
  }
  // A paragraph of its own each, so that neither is taken for the end of the other.
  return { text: `${head}\n\n${tail}`, chars }
}
