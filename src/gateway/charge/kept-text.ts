/** The text of an answer, kept block by block, so that it can be counted if the provider reports no usage. */

/** The texts, and the guess of what there was no more room for. */
export type Said = { texts: readonly string[]; unkeptTokens: number }

/** More than any model writes; an answer beyond it is counted up to here. */
const MAX_KEPT_CHARS = 1_000_000
/** Pieces that are joined at once: until then each keeps the read that it came in from being freed. */
const PIECES_AT_ONCE = 64

/** Keeps nothing yet. */
export class KeptText {
  private readonly byBlock = new Map<number, string>()
  private pieces: string[] = []
  private current = -1
  private room = MAX_KEPT_CHARS

  /** False if there is no more room. */
  add(block: number, text: string): boolean {
    this.room -= text.length
    if (this.room < 0) return false
    if (block !== this.current || this.pieces.length === PIECES_AT_ONCE) {
      this.join()
      this.current = block
    }
    this.pieces.push(text)
    return true
  }

  texts(): readonly string[] {
    this.join()
    return [...this.byBlock.values()]
  }

  /** The kept text of a block; '' without text. */
  textOf(block: number): string {
    this.join()
    return this.byBlock.get(block) ?? ''
  }

  private join(): void {
    if (this.pieces.length === 0) return
    this.byBlock.set(this.current, (this.byBlock.get(this.current) ?? '') + this.pieces.join(''))
    this.pieces = []
  }
}
