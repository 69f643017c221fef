/** A server process's side of the channel to its supervisor: sends its counts, and asks for the sum of all. */
import { GatewayError } from '@/chat/error'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import type { FromProcess, ToProcess } from './messages'

/** The supervisor waits for other processes for a second. */
const EXPOSITION_TIMEOUT_MS = 3_000
/** A supervisor that reads nothing keeps no process from ending. */
const LEAVE_TIMEOUT_MS = 500

interface SupervisorLink {
  /** Says that this process serves, and from now on what it has counted, whenever it is asked. */
  serves(snapshot: () => Promise<string>): void
  /** The metrics of all processes as text. Rejects with a 503 where the supervisor is silent. */
  exposition(): Promise<string>
  /** Says a last time what this process has counted, which ends. */
  leave(): Promise<void>
}

/** Opens this process's side. Once per process. */
export function linkToSupervisor(logger: Logger): SupervisorLink {
  const questions = new Map<number, (text: string) => void>()
  let asked = 0
  let snapshotOf: (() => Promise<string>) | undefined
  let told = Promise.resolve()

  /** One after the other: a supervisor that heard the older of two last would take it for a process that began again. */
  function count(): Promise<void> {
    told = told.then(tell)
    return told
  }

  async function tell(): Promise<void> {
    try {
      if (snapshotOf) await send({ type: 'counted', snapshot: await snapshotOf() })
    } catch (error) {
      logger.error('metrics_not_counted', { error })
    }
  }

  process.on('message', (message: ToProcess) => {
    if (message.type === 'count') void count()
    if (message.type === 'exposition') questions.get(message.question)?.(message.text)
  })
  return {
    serves(snapshot) {
      snapshotOf = snapshot
      void send({ type: 'serves' })
    },
    async exposition() {
      const question = asked++
      const { promise, resolve } = Promise.withResolvers<string>()
      questions.set(question, resolve)
      try {
        void send({ type: 'expose', question })
        return await withDeadline(promise, EXPOSITION_TIMEOUT_MS, () => {
          throw new GatewayError('overloaded', 'The supervisor of the server processes does not answer.')
        })
      } finally {
        questions.delete(question)
      }
    },
    leave: () => withDeadline(count(), LEAVE_TIMEOUT_MS, () => undefined),
  }
}

/** Resolves once the message is on its way, or cannot be sent any more: a process notices by itself where it has lost its supervisor. */
function send(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) return resolve()
    process.send?.(message, undefined, undefined, () => resolve())
  })
}
