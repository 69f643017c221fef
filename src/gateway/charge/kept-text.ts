/** What an answer has said, kept block by block, so that it can be counted should the provider not say what it came to. */

/** The texts, and the guess of what there was no more room for. */
export type Said = { texts: readonly string[]; unkeptTokens: number }

interface KeptText {
  /** False where there is no more room. */
  add(block: number, text: string): boolean
  texts(): readonly string[]
  /** What a block has said, as far as there was room; '' where it said nothing. */
  textOf(block: number): string
}

/** More than any model writes; an answer beyond it is counted up to here. */
const MAX_KEPT_CHARS = 1_000_000
/** Pieces that are joined at once: until then each keeps the read that it came in from being freed. */
const PIECES_AT_ONCE = 64

/** Keeps nothing yet. */
export function createKeptText(): KeptText {
  const texts = new Map<number, string>()
  let pieces: string[] = []
  let current = -1
  let room = MAX_KEPT_CHARS

  function join(): void {
    if (pieces.length === 0) return
    texts.set(current, (texts.get(current) ?? '') + pieces.join(''))
    pieces = []
  }

  return {
    add(block, text) {
      room -= text.length
      if (room < 0) return false
      if (block !== current || pieces.length === PIECES_AT_ONCE) {
        join()
        current = block
      }
      pieces.push(text)
      return true
    },
    texts() {
      join()
      return [...texts.values()]
    },
    textOf(block) {
      join()
      return texts.get(block) ?? ''
    },
  }
}
