/**
 * Why an embedded server could not start: the one error that leaves this folder, a sentence for the person who starts
 * the gateway.
 */

/** An embedded server could not be started; the message is one clear sentence that says what to do where that is known. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError'
}
