/** Chooses among the keys of a provider, each in proportion to its weight. */
import type { Provider, ProviderKey } from '@/catalog/types'
import { assert } from '@/lib/assert'

export interface KeyPool {
  pick(provider: Provider): ProviderKey
}

/** Creates a pool. `random` returns [0, 1). */
export function createKeyPool(random: () => number = Math.random): KeyPool {
  return {
    pick(provider) {
      const { keys } = provider
      const total = keys.reduce((sum, key) => sum + key.weight, 0)
      let ticket = keys.length > 1 ? random() * total : 0
      const chosen = keys.find((key) => {
        ticket -= key.weight
        return ticket < 0
      })
      const key = chosen ?? keys[keys.length - 1]
      assert(key, `provider ${provider.name} has no key`)
      return key
    },
  }
}
