/** The error of a failed operator command. */

/** The message is one line, the only output for the operator. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
}

/** Ends the command with `message`. */
export function fail(message: string): never {
  throw new CommandFailure(message)
}
