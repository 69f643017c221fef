/** Assertions stay on in production: a gateway that handles money stops rather than runs wrong. */

/** A broken assumption of our own code: a bug, never the caller's fault. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Throws an {@link AssertionError} with `message` unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** Marks a branch that the type system proves unreachable; throws if it is reached all the same. */
export function assertNever(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`)
}
