/** Why an operator's command did not do what it was asked. */

/** The message is one line for the operator, and all that is shown. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
}

/** Ends the command with `message`. */
export function fail(message: string): never {
  throw new CommandFailure(message)
}
