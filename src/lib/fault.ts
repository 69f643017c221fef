/** Faults in an operator's file or settings, by place, so that all can be reported at once. */

/** `place` names the variable or the path inside the file; `message` says what is wrong and what is expected, without secrets. */
export type Fault = { place: string; message: string }

/** One message that lists every fault on its own line under `title`. */
export function formatFaults(title: string, faults: readonly Fault[]): string {
  return [title, ...faults.map((fault) => `  ${fault.place}: ${fault.message}`)].join('\n')
}
