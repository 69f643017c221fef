/** Takes every descriptor that a process may have, as a flood of connections does, and gives them back. */
import { closeSync, openSync } from 'node:fs'
import { spendThen } from '@test/support/delays'

/** Longer than a gateway puts off what its start does not need. */
const WHILE_MS = 2_500
/** What it says on standard error when they are back. */
export const ARE_BACK = 'descriptors are back'

/** Leaves this process none for a while. */
export function takeDescriptors(): void {
  const taken = takeAll()
  spendThen(WHILE_MS, () => {
    for (const descriptor of taken) closeSync(descriptor)
    process.stderr.write(`${ARE_BACK}\n`)
  })
}

function takeAll(): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return taken
  }
}
