/** The error for a failed start that an operator can fix. It is shown without a stack trace. */

/** The message explains what the operator must change. */
export class FatalStartError extends Error {
  override readonly name = 'FatalStartError'
}
