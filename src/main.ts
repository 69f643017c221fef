/** The entry of `bun run start`: settings, catalogue, stores; then one server here or several processes until a signal. */

import { answerArguments } from '@/boot/arguments'
import { EmbeddedServerError } from '@/boot/embedded/error'
import { watchLauncher } from '@/boot/embedded/launcher'
import { FatalStartError } from '@/boot/fatal-start-error'
import { watchTerminal } from '@/boot/reload/hang-up'
import { start } from '@/boot/start'
import { processEnvironment } from '@/config/config'
import { stackOf } from '@/lib/error-text'
import { createLogWriter, flushOnExit } from '@/lib/log-writer'

const logWriter = createLogWriter()
flushOnExit(logWriter)

/** Both the terminal and a launcher may forward one Ctrl-C. Only after this time does a signal count as the second. */
const SAME_SIGNAL_MS = 1_000

async function main(): Promise<void> {
  const answer = answerArguments(process.argv.slice(2))
  if (answer) {
    await Bun.write(answer.exitCode === 0 ? Bun.stdout : Bun.stderr, answer.text)
    process.exit(answer.exitCode)
  }
  // A SIGHUP during the start must not end it. The catalogue may have been read before its change, so it is read again after the start.
  let isAskedEarly = false
  let onHangUp = (): void => {
    isAskedEarly = true
  }
  process.on('SIGHUP', () => onHangUp())
  const isTerminalGone = watchTerminal()
  const environment = processEnvironment()
  const running = await start(environment, logWriter)
  let firstSignalMs: number | undefined
  async function onSignal(signal: NodeJS.Signals): Promise<void> {
    const nowMs = performance.now()
    if (firstSignalMs !== undefined) {
      // A second signal exits at once: acknowledged work is safe, and unacknowledged work is recovered at the next start.
      if (nowMs - firstSignalMs > SAME_SIGNAL_MS) process.exit(1)
      return
    }
    firstSignalMs = nowMs
    await running.stop(signal)
    await logWriter.flush()
    process.exit(0)
  }
  process.on('SIGTERM', () => void onSignal('SIGTERM'))
  process.on('SIGINT', () => void onSignal('SIGINT'))
  onHangUp = () => (isTerminalGone() ? void onSignal('SIGTERM') : running.reload())
  if (isAskedEarly) onHangUp()
  watchLauncher(environment, () => void onSignal('SIGTERM'))
  // Written by the log writer, so that no log line mixes with the banner.
  logWriter.write(running.banner)
  await logWriter.flush()
}

main().catch((error: unknown) => {
  const isExpected = error instanceof FatalStartError || error instanceof EmbeddedServerError
  process.stderr.write(`${isExpected ? error.message : String(error instanceof Error ? stackOf(error) : error)}\n`)
  process.exit(1)
})
