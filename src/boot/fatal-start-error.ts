/** Why a gateway does not start, where an operator can do something about it: told in words, without a trace. */

/** Something an operator can mend; the message says what. */
export class FatalStartError extends Error {
  override readonly name = 'FatalStartError'
}
