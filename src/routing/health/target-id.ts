/** Ids for health data: the same in every gateway, and without secrets. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'

/** Cached per target, since the id is needed very often. */
const idOfTarget = new WeakMap<Target, string>()

/** `provider/upstream model`. */
export function targetId(target: Target): string {
  const known = idOfTarget.get(target)
  if (known !== undefined) return known
  const id = `${target.provider.name}/${target.model}`
  idOfTarget.set(target, id)
  return id
}

/** `provider/digest of the key`. */
export function providerKeyId(provider: Provider, key: ProviderKey): string {
  return `${provider.name}/${key.id}`
}
