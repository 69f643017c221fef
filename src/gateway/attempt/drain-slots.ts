/** Calls that continue without their client, because their usage is known only at the end. Limited per provider, account and in time. */
import type { Provider } from '@/catalog/types'
import { SHARED } from '@/limits/shared-resources'

/** Counts the calls that continue without their client, per provider and account. */
export interface DrainSlots {
  /** Takes one of `limit` slots. Returns a function that frees it; undefined if all slots, or the account's share of them, are taken. */
  take(provider: string, accountId: string, limit: number): (() => void) | undefined
}

/** Creates the drain slots of one process. */
export function createDrainSlots(): DrainSlots {
  const taken = new Map<string, number>()
  const add = (name: string, change: number) => {
    const count = (taken.get(name) ?? 0) + change
    if (count > 0) taken.set(name, count)
    else taken.delete(name)
  }
  return {
    take(provider, accountId, limit) {
      const own = `${accountId} ${provider}`
      const ownLimit = Math.max(1, Math.floor((limit * SHARED.readingOn.perAccount) / SHARED.readingOn.perProcess))
      if ((taken.get(provider) ?? 0) >= limit || (taken.get(own) ?? 0) >= ownLimit) return undefined
      for (const name of [provider, own]) add(name, 1)
      return () => {
        for (const name of [provider, own]) add(name, -1)
      }
    },
  }
}

/** Calls in progress, which are interrupted when the process stops. */
export type Streams = { add(interrupt: () => void): () => void }

type ReadingDeps = { drains: DrainSlots; streams: Streams }

/** Prepares a call to continue after its client disconnects; undefined if the provider's policy forbids it. */
export function readingOnOf(deps: ReadingDeps, accountId: string, provider: Provider): ReadingOn | undefined {
  const { onDisconnect } = provider
  return onDisconnect.kind === 'abort' ? undefined : new ReadingOn(deps, accountId, provider.name, onDisconnect)
}

export class ReadingOn {
  private giveBack: (() => void) | undefined = undefined

  constructor(
    private readonly deps: ReadingDeps,
    private readonly accountId: string,
    private readonly provider: string,
    private readonly policy: Exclude<Provider['onDisconnect'], { kind: 'abort' }>,
  ) {}

  get isUnderWay(): boolean {
    return this.giveBack !== undefined
  }

  /** Lets the call continue if a slot is free. Otherwise, or at its time limit, calls `end`. */
  leave(end: () => void): void {
    const { drains, streams } = this.deps
    const giveBack = drains.take(this.provider, this.accountId, this.policy.maxConcurrent)
    if (!giveBack) {
      end()
      return
    }
    const stop = () => {
      this.over()
      end()
    }
    const timer = setTimeout(stop, this.policy.maxMs)
    const unregister = streams.add(stop)
    this.giveBack = () => {
      clearTimeout(timer)
      unregister()
      giveBack()
    }
  }

  over(): void {
    this.giveBack?.()
    this.giveBack = undefined
  }
}
