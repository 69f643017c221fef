import { closeSync, openSync, readFileSync } from 'node:fs'

/** The bit of SIGHUP in /proc's signal masks. */
const SIGHUP_BIT = 1n

/**
 * Watches the terminal from the start on. The returned function says at each SIGHUP why it came: true if the terminal closed, false for
 * a reload.
 */
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
