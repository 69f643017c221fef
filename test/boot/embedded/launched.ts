/** A stand-in for a gateway below a launcher: says its process id, then that the launcher is gone, and ends. */
import { PATIENCE_MS } from '@test/support/until'
import { watchLauncher } from '@/boot/embedded/launcher'

// Where nobody tells it, it ends all the same.
const keptAlive = setInterval(() => process.exit(1), PATIENCE_MS)
watchLauncher(process.env, () => {
  process.stdout.write('gone\n')
  clearInterval(keptAlive)
})
process.stdout.write(`${process.pid}\n`)
