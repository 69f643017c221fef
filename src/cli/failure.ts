/** The error of a failed operator command. */

/** Ends a command. The operator sees only its message, which is one line. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
}

/** Ends the command with `message`. */
export function fail(message: string): never {
  throw new CommandFailure(message)
}
