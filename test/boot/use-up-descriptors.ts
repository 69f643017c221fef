/** Loaded into a gateway ahead of its own code, for its descriptors: at SIGUSR2 leaves it none for a while, as a flood of connections does. */
import { closeSync, openSync } from 'node:fs'

/** Longer than a gateway puts off what its start does not need. */
const WHILE_MS = 2_500

function takeAll(): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return taken
  }
}

process.on('SIGUSR2', () => {
  const taken = takeAll()
  setTimeout(() => {
    for (const descriptor of taken) closeSync(descriptor)
    process.stderr.write('descriptors are back\n')
  }, WHILE_MS)
})
