import type { Catalog, Provider, ProviderKey } from '@/catalog/types'
import { providerKeyId } from './target-id'

export type CallsOfKey = { readonly id: string; underWay: number; isRemoved: boolean }

export interface KeyCalls {
  /** A call begins. Pass the result to {@link ended}. */
  began(provider: Provider, key: ProviderKey): CallsOfKey
  ended(call: CallsOfKey): void
  /** Keys that are in `before` and not in `next` count as removed from now on. */
  renew(next: Catalog, before: Catalog): void
  /** Running calls with removed keys, by the key's id. */
  draining(): Map<string, number>
}

/** Counts running calls with each provider key. `onDrained` is called once for each removed key, after its last call. */
export function createKeyCalls(onDrained: (id: string) => void = () => undefined): KeyCalls {
  const all = new Map<string, CallsOfKey>()
  const ofKey = new WeakMap<ProviderKey, CallsOfKey>()

  /** One counter per key id, shared by all catalogues. */
  function callsOf(id: string): CallsOfKey {
    const calls = all.get(id) ?? { id, underWay: 0, isRemoved: false }
    all.set(id, calls)
    return calls
  }

  return {
    began(provider, key) {
      let calls = ofKey.get(key)
      if (!calls) {
        calls = callsOf(providerKeyId(provider, key))
        ofKey.set(key, calls)
      }
      calls.underWay++
      return calls
    },
    ended(calls) {
      calls.underWay--
      if (calls.underWay > 0 || !calls.isRemoved) return
      calls.isRemoved = false
      onDrained(calls.id)
    },
    renew(next, before) {
      const present = keyIds(next)
      for (const calls of all.values()) if (present.has(calls.id)) calls.isRemoved = false
      for (const id of keyIds(before)) {
        if (present.has(id)) continue
        const calls = callsOf(id)
        calls.isRemoved = calls.underWay > 0
        if (!calls.isRemoved) onDrained(id)
      }
    },
    draining: () =>
      new Map(
        all
          .values()
          .filter(({ isRemoved }) => isRemoved)
          .map(({ id, underWay }) => [id, underWay] as const),
      ),
  }
}

function keyIds({ providers }: Catalog): Set<string> {
  return new Set(
    [...providers.values()].flatMap((provider) => provider.keys.map((key) => providerKeyId(provider, key))),
  )
}
