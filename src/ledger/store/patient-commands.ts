/**
 * A command of ioredis times out by a plain timer. After this process was blocked, the timer fires before the waiting reply is read. A
 * healthy Redis would seem unreachable, and every request would be refused. So blocked time isn't counted.
 */
import { Command } from 'ioredis'
import { startAlarm } from '@/lib/deadline'

/** ioredis' fields for a command's time limit. It stops the timer itself once the command has settled. */
type Timed = { _commandTimeoutTimer?: Timer; isSettled: boolean; reject(error: Error): void }

function setPatientTimeout(this: Timed, timeoutMs: number): void {
  if (this._commandTimeoutTimer) return
  const giveUp = () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'))
  }
  startAlarm(timeoutMs, giveUp, (timer) => {
    this._commandTimeoutTimer = timer
  })
}

export function waitPatiently(): void {
  Object.assign(Command.prototype, { setTimeout: setPatientTimeout })
}
