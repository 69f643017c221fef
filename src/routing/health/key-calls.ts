/** Counts the calls under way on each provider key, so that an operator who took a key out of use learns when the last one is over. */
import type { Catalog, Provider, ProviderKey } from '@/catalog/types'
import { providerKeyId } from './target-id'

/** The calls of one key of the catalogue, present or former. */
export type CallsOfKey = { readonly id: string; underWay: number; isRemoved: boolean }

export interface KeyCalls {
  /** A call begins. Returns what {@link ended} takes at its end. */
  began(provider: Provider, key: ProviderKey): CallsOfKey
  ended(call: CallsOfKey): void
  /** Keys that are in `before` and not in `next` are drained from now on. */
  renew(next: Catalog, before: Catalog): void
  /** Calls under way on keys that are no longer in use, by the key's id. */
  draining(): Map<string, number>
}

/** Counts for one process. `onDrained` is called once for each key out of use, when no call is under way on it any more. */
export function createKeyCalls(onDrained: (id: string) => void = () => undefined): KeyCalls {
  const all = new Map<string, CallsOfKey>()
  const ofKey = new WeakMap<ProviderKey, CallsOfKey>()

  /** One for all objects by which catalogues know the key. */
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
