/** A stand-in for a gateway below a launcher: says its process id, then that the launcher is gone, and ends. */
import { watchLauncher } from '@/boot/embedded/launcher'

const keptAlive = setTimeout(() => undefined, 30_000)
watchLauncher(process.env, () => {
  process.stdout.write('gone\n')
  clearTimeout(keptAlive)
})
process.stdout.write(`${process.pid}\n`)
