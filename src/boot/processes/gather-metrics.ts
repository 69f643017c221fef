/** Asks every server process of a gateway what it has counted, and waits for none that hangs. */
import { withDeadline } from '@/lib/deadline'
import { createMergedMetrics } from '@/metrics/merged-metrics'
import type { ToProcess } from './messages'

/** A process that serves says what it counted within milliseconds; Prometheus waits for ten seconds. */
const ANSWER_TIMEOUT_MS = 1_000

/** The life of one server process, as far as its metrics go. */
interface CountedProcess {
  /** From now on it is asked. */
  serves(): void
  counted(snapshot: string): void
  ended(): void
}

interface GatheredMetrics {
  /** A process was started under `name`, which is its own among those that live. `send` may throw. */
  started(name: string, send: (message: ToProcess) => void): CountedProcess
  /** The metrics of all as text, after at most a second: of those that are late, what they said last. */
  exposition(): Promise<string>
}

type Member = {
  serves: boolean
  send(message: ToProcess): void
  /** Unanswered questions, oldest first: answers come in order. */
  questions: PromiseWithResolvers<boolean>[]
  /** It let a question wait too long, and is waited for no more until it has answered. */
  isLate: boolean
}

/** Creates what gathers from no process yet. */
export function createGatheredMetrics(): GatheredMetrics {
  const merged = createMergedMetrics()
  /** By name; an ended process stays here until another replaces it. */
  const members = new Map<string, Member>()

  async function ask(member: Member): Promise<boolean> {
    if (!member.serves || member.isLate) return false
    try {
      member.send({ type: 'count' })
    } catch {
      return false
    }
    const question = Promise.withResolvers<boolean>()
    member.questions.push(question)
    return withDeadline(question.promise, ANSWER_TIMEOUT_MS, () => {
      member.isLate = true
      return false
    })
  }

  return {
    started(name, send) {
      if (members.has(name)) merged.restarted()
      const process = merged.start(name)
      const member: Member = { serves: false, send, questions: [], isLate: false }
      members.set(name, member)
      return {
        serves() {
          member.serves = true
        },
        counted(snapshot) {
          process.update(snapshot)
          member.isLate = false
          member.questions.shift()?.resolve(true)
        },
        ended() {
          member.serves = false
          for (const question of member.questions) question.resolve(false)
          process.end()
        },
      }
    },
    async exposition() {
      const asked = [...members].map(async ([name, member]) => [name, await ask(member)] as const)
      return merged.exposition(new Map(await Promise.all(asked)))
    },
  }
}
