/** The comment that tells a file's purpose: its first, or that of its main export. No other file has the same first sentence. */
import { mainExport, type Source, type Violation } from './source'

const MIN_WORDS = 6

/** Requires that the doc comment of `source` begins with a whole sentence. */
export function checkHeader(source: Source): Violation[] {
  const sentence = firstSentence(source)
  if (sentence === undefined)
    return [violation(source, 'the file, or its main export, has a doc comment: purpose, why')]
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
    const sentence = firstSentence(source)?.toLowerCase()
    if (sentence === undefined) return []
    const other = first.get(sentence)
    first.set(sentence, other ?? source)
    return other ? [violation(source, `opens with the same sentence as ${other.path}`)] : []
  })
}

/** The sentence ends where another begins: a full stop inside a name or a number is none. */
function firstSentence(source: Source): string | undefined {
  const header = /^(?:#![^\n]*\n)?\/\*\*([\s\S]*?)\*\//.exec(source.text)?.[1]
  const comment = header ?? mainExport(source)?.doc?.slice(1)
  const lines = comment?.split('\n').map((line) => line.replace(/^\s*\*/, '').trim())
  // A blank line ends a paragraph, and so a sentence.
  const paragraph = lines?.join('\n').trim().split(/\n\n/)[0]?.replaceAll('\n', ' ')
  if (!paragraph) return undefined
  return /^.*?[.!?](?=\s+[A-Z`*“(]|$)/.exec(paragraph)?.[0] ?? paragraph
}

function violation(source: Source, detail: string): Violation {
  return { path: source.path, line: 1, rule: 'header', detail }
}
