/** Errors in an operator's file or settings with their places, so that all can be reported at once. */

/** `place` is the variable or the path in the file; `message` is the error and the expected value, without secrets. */
export type Fault = { place: string; message: string }

/** A message with every fault on its own line under `title`. */
export function formatFaults(title: string, faults: readonly Fault[]): string {
  return [title, ...faults.map((fault) => `  ${fault.place}: ${fault.message}`)].join('\n')
}
