/**
 * A command of ioredis gives up by a plain timer. After a stall of this process the timer fires before the waiting reply is
 * read. A healthy store would look silent, and every request would be refused. So own stalls are not counted.
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

/** From now on the commands of all clients of this process wait so. */
export function waitPatiently(): void {
  Object.assign(Command.prototype, { setTimeout: setPatientTimeout })
}
