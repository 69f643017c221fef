/** The comment that a file opens with: one sentence by which a stranger could guess the file's folder, and no other file's. */
import type { Source, Violation } from './source'

const MIN_WORDS = 6

/** Asks that `source` opens with a doc comment whose first sentence is one. */
export function checkHeader(source: Source): Violation[] {
  const sentence = firstSentence(source.text)
  if (sentence === undefined) return [violation(source, 'the file starts with a doc comment: what it is and why')]
  const words = sentence.split(' ').length
  if (words < MIN_WORDS) {
    return [
      violation(source, `“${sentence}” says too little: at least ${MIN_WORDS} words, what the file is and of what`),
    ]
  }
  return sentence.endsWith('.') ? [] : [violation(source, `“${sentence}” is no sentence: it ends with a full stop`)]
}

/** Finds files that open with the same sentence as another: neither says which of the two it is. */
export function checkTwins(sources: readonly Source[]): Violation[] {
  const first = new Map<string, Source>()
  return sources.flatMap((source) => {
    const sentence = firstSentence(source.text)?.toLowerCase()
    if (sentence === undefined) return []
    const other = first.get(sentence)
    first.set(sentence, other ?? source)
    return other ? [violation(source, `opens with the same sentence as ${other.path}`)] : []
  })
}

/** The sentence ends where another begins: a full stop inside a name or a number is none. */
function firstSentence(text: string): string | undefined {
  const comment = /^(?:#![^\n]*\n)?\/\*\*([\s\S]*?)\*\//.exec(text)?.[1]
  const lines = comment?.split('\n').map((line) => line.replace(/^\s*\*/, '').trim())
  // A blank line ends a paragraph, and so a sentence.
  const paragraph = lines?.join('\n').trim().split(/\n\n/)[0]?.replaceAll('\n', ' ')
  if (!paragraph) return undefined
  return /^.*?[.!?](?=\s+[A-Z`*“(]|$)/.exec(paragraph)?.[0] ?? paragraph
}

function violation(source: Source, detail: string): Violation {
  return { path: source.path, line: 1, rule: 'header', detail }
}
