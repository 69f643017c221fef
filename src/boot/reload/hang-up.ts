/** Distinguishes the two causes of SIGHUP: a reload is requested, or the terminal was closed. */
import { closeSync, openSync, readFileSync } from 'node:fs'

/** The bit of SIGHUP in /proc's signal masks. */
const SIGHUP_BIT = 1n

/** Call it at the start. Call the returned function at each SIGHUP: it returns whether the terminal was closed. */
export function watchTerminal(): () => boolean {
  // Under nohup, the gateway must survive the terminal.
  const isToStop = hasTerminal() && !isIgnored()
  return () => isToStop && !hasTerminal()
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

function isIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return mask !== undefined && (BigInt(`0x${mask}`) & SIGHUP_BIT) !== 0n
  } catch {
    return false
  }
}
