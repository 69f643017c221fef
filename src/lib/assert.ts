/** Assertions stay on in production: a gateway that handles money should rather stop than continue wrongly. */

/** A broken assumption in our own code: a bug, never the caller's fault. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Throws an {@link AssertionError} with `message` if `condition` is false. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** Marks a branch that types prove unreachable; throws if reached anyway. */
export function assertNever(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`)
}
