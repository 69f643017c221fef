/** Why an embedded server could not start, in a sentence for the operator. */

/** An embedded server could not be started; the message is one clear sentence that says what to do where that is known. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError'
}
