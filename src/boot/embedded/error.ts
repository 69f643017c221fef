/** An embedded server could not start. The message is one sentence for the operator, with the remedy if known. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError'
}
