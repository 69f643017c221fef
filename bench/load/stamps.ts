/** The mark that the mock upstream puts into every piece of a stream: when it was sent, so that a reader knows how long it took. */

/** Stands before the time; nothing else in a prompt, an answer or a frame contains it. */
const MARK = '@'
const MARK_BYTE = MARK.charCodeAt(0)
/** Milliseconds since 1970 with three decimals. */
const DIGITS = 17

/** What prepared bytes hold until the time is written over it. */
export const STAMP_PLACE = MARK + '0'.repeat(DIGITS)

/** The wall clock, finer than milliseconds; the same for all processes of a machine. */
export function wallClockMs(): number {
  return performance.timeOrigin + performance.now()
}

/** The mark for a time. */
export function stampText(atMs: number): string {
  return MARK + atMs.toFixed(3).padStart(DIGITS, '0')
}

/** Calls `onStamp` with the time in every mark of `bytes`; NaN where a mark was cut in two by the network. */
export function readStamps(bytes: Buffer, onStamp: (sentAtMs: number) => void): void {
  for (let at = bytes.indexOf(MARK_BYTE); at !== -1; at = bytes.indexOf(MARK_BYTE, at + 1)) {
    const end = at + 1 + DIGITS
    onStamp(end <= bytes.length ? Number(bytes.toString('latin1', at + 1, end)) : Number.NaN)
  }
}
