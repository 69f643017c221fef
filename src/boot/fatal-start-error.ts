/** An error of the start that the operator can fix, as the message explains. It is shown without a stack trace. */
export class FatalStartError extends Error {
  override readonly name = 'FatalStartError'
}
