/** The numbers of characters that are read at the start and at the end of a longer text. */
const HEAD_CHARS = 900
const TAIL_CHARS = 900

/** A sample and the length of a prompt. A long prompt is sampled at both ends, since the instruction is there. */
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
  // The two ends are separate paragraphs, so that they don't seem connected.
  return { text: `${head}\n\n${tail}`, chars }
}
