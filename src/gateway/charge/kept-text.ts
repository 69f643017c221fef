/** Keeps the text of an answer by block. Its tokens are counted if the provider reports no usage. */

/** The texts, and the estimated tokens of text that was not kept. */
export type Said = { texts: readonly string[]; unkeptTokens: number }

/** Limit of stored text, longer than any model's answer. Tokens of text beyond it are only estimated. */
const MAX_KEPT_CHARS = 1_000_000
/** Chunks collected before they are joined into one text. Until then each chunk keeps its whole read buffer in memory. */
const PIECES_AT_ONCE = 64

export class KeptText {
  private readonly byBlock = new Map<number, string>()
  private pieces: string[] = []
  private current = -1
  private room = MAX_KEPT_CHARS

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
