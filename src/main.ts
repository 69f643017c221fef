/** The entry of `bun run start`: settings, catalogue, stores, then one server here or several beside it, until a signal. */

import { FatalStartError, start } from '@/boot/start'
import { processEnvironment } from '@/config'
import { EmbeddedServerError } from '@/embedded/error'
import { createLogWriter } from '@/lib/log-writer'

const logWriter = createLogWriter()

async function main(): Promise<void> {
  const running = await start(processEnvironment(), logWriter)
  let signals = 0
  async function onSignal(signal: NodeJS.Signals): Promise<void> {
    signals++
    // A second signal is impatience: everything that was acknowledged is safe, and the rest is found again at the next start.
    if (signals > 1) process.exit(1)
    await running.stop(signal)
    logWriter.flushSync()
    process.exit(0)
  }
  process.on('SIGTERM', () => void onSignal('SIGTERM'))
  process.on('SIGINT', () => void onSignal('SIGINT'))
}

main().catch((error: unknown) => {
  logWriter.flushSync()
  const isExpected = error instanceof FatalStartError || error instanceof EmbeddedServerError
  process.stderr.write(`${isExpected ? error.message : String(error instanceof Error ? error.stack : error)}\n`)
  process.exit(1)
})
