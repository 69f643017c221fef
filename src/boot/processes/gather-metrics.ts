/** Collects the metrics of a gateway's processes, without waiting for a process that hangs. */
import { withDeadline } from '@/lib/deadline'
import { createMergedMetrics } from '@/metrics/merged-metrics'
import type { ToProcess } from './messages'

/** A healthy process answers within milliseconds; Prometheus waits ten seconds. */
const ANSWER_TIMEOUT_MS = 1_000

interface CountedProcess {
  serves(): void
  counted(snapshot: string): void
  ended(): void
}

interface GatheredMetrics {
  /** Registers a started process. `name` is unique among running processes. `send` may throw. */
  started(name: string, send: (message: ToProcess) => void): CountedProcess
  /** The metrics of all processes as text, within a second. A slow process is represented by its last known values. */
  exposition(): Promise<string>
}

type Member = {
  serves: boolean
  send(message: ToProcess): void
  /** Our requests that the process has not answered, oldest first. Its answers come in the same order. */
  questions: PromiseWithResolvers<boolean>[]
  /** The process has not answered in time. Scrapes don't wait for it until it answers again. */
  isLate: boolean
}

export function createGatheredMetrics(): GatheredMetrics {
  const merged = createMergedMetrics()
  /** Processes by name; an ended process stays until its replacement starts. */
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
