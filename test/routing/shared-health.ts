/** What gateways tell each other, kept in memory: a store that all exchanges of one test share, by the clock of that test. */
import type { Clock } from '@/lib/clock'
import type { HealthExchange, HealthNote } from '@/routing/health/health-exchange'

type Noted = { owner: string; state: HealthNote['state']; untilMs: number }

export interface SharedHealth {
  /** The moment at which everybody reads. */
  sync(): void
  join(owner: string): HealthExchange
}

/** Nothing is told yet. Of a target the first owner stays, of all else the longer note, as in the real store. */
export function sharedHealth(clock: Clock): SharedHealth {
  const notes = new Map<string, Noted>()
  const listeners: (() => void)[] = []

  function live(subject: string): Noted | undefined {
    const noted = notes.get(subject)
    if (noted && noted.untilMs <= clock.now()) notes.delete(subject)
    return notes.get(subject)
  }

  function heardBy(gateway: string): HealthNote[] {
    return [...notes.keys()].flatMap((subject) => {
      const noted = live(subject)
      if (!noted) return []
      const { owner, state, untilMs } = noted
      return [{ subject, state, remainingMs: untilMs - clock.now(), isOwn: owner === gateway }]
    })
  }

  return {
    sync() {
      for (const listener of listeners) listener()
    },
    join: (owner) => ({
      publish(subject, state, forMs) {
        const untilMs = clock.now() + forMs
        const noted = live(subject)
        const stays = subject.startsWith('target:') ? noted && noted.owner !== owner : noted && noted.untilMs >= untilMs
        if (!stays) notes.set(subject, { owner, state, untilMs })
      },
      withdraw(subject) {
        const noted = live(subject)
        if (!subject.startsWith('target:') || noted?.owner === owner) notes.delete(subject)
      },
      stayClose() {},
      start: (listener) => void listeners.push(() => listener(heardBy(owner))),
      stop: async () => undefined,
    }),
  }
}
