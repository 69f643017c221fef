import { GatewayError } from '@/chat/error'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import type { FromProcess, ToProcess } from './messages'

/** The wait for the metrics of all processes. The supervisor itself waits a second for them. */
const EXPOSITION_TIMEOUT_MS = 3_000
/** The process ends after this time, even if the supervisor reads nothing. */
const LEAVE_TIMEOUT_MS = 500

interface SupervisorLink {
  /** Reports that this process serves. `snapshot` is called whenever its metrics are requested. */
  serves(snapshot: () => Promise<string>): void
  /** The metrics of all processes as text. Rejects with a 503 if the supervisor does not answer. */
  exposition(): Promise<string>
  leave(): Promise<void>
}

/** A server process's side of the supervisor channel: sends its metrics, and requests those of all processes. Once per process. */
export function linkToSupervisor(logger: Logger): SupervisorLink {
  const questions = new Map<number, (text: string) => void>()
  let asked = 0
  let snapshotOf: (() => Promise<string>) | undefined
  let told = Promise.resolve()

  /** Sends one snapshot at a time. If an older snapshot arrived last, the supervisor would see counters fall. */
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
          throw new GatewayError('overloaded', 'The process that supervises the servers does not answer.')
        })
      } finally {
        questions.delete(question)
      }
    },
    leave: () => withDeadline(count(), LEAVE_TIMEOUT_MS, () => undefined),
  }
}

/** Resolves once the message is sent or cannot be sent. Other code notices a lost supervisor. */
function send(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) return resolve()
    process.send?.(message, undefined, undefined, () => resolve())
  })
}
