/** Tells the two meanings of SIGHUP apart: a reload is wanted, or the gateway's terminal is gone. */
import { closeSync, openSync, readFileSync } from 'node:fs'

/** The bit of SIGHUP in the masks of /proc. */
const SIGHUP_BIT = 1n

/** Call it at the start; what it returns is called at each signal and says whether the terminal is gone. */
export function watchTerminal(): () => boolean {
  // Started with nohup, it is meant to outlive the terminal.
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
