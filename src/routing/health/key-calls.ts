/** Counts the calls under way on each provider key, so that an operator who took a key out of use learns when the last one is over. */
import type { Catalog, Provider, ProviderKey } from '@/catalog/types'
import { providerKeyId } from './target-id'

export interface KeyCalls {
  /** A call begins. Returns its id, for its end. */
  began(provider: Provider, key: ProviderKey): string
  ended(id: string): void
  /** Keys that are in `before` and not in `next` are drained from now on. */
  renew(next: Catalog, before: Catalog): void
  /** Calls under way on keys that are no longer in use, by the key's id. */
  draining(): Map<string, number>
}

/** Counts for one process. `onDrained` is called once for each key out of use, when no call is under way on it any more. */
export function createKeyCalls(onDrained: (id: string) => void = () => undefined): KeyCalls {
  const open = new Map<string, number>()
  const removed = new Set<string>()
  const ids = new WeakMap<ProviderKey, string>()
  return {
    began(provider, key) {
      const id = ids.get(key) ?? providerKeyId(provider, key)
      ids.set(key, id)
      open.set(id, (open.get(id) ?? 0) + 1)
      return id
    },
    ended(id) {
      const left = (open.get(id) ?? 1) - 1
      open.set(id, left)
      if (left > 0 || !removed.delete(id)) return
      open.delete(id)
      onDrained(id)
    },
    renew(next, before) {
      const present = keyIds(next)
      for (const id of present) removed.delete(id)
      for (const id of keyIds(before)) {
        if (present.has(id)) continue
        if (open.get(id)) removed.add(id)
        else {
          open.delete(id)
          onDrained(id)
        }
      }
    },
    draining: () => new Map([...removed].map((id) => [id, open.get(id) ?? 0])),
  }
}

function keyIds({ providers }: Catalog): Set<string> {
  return new Set(
    [...providers.values()].flatMap((provider) => provider.keys.map((key) => providerKeyId(provider, key))),
  )
}
