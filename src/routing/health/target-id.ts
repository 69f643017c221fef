/** Names for what has health of its own: the same in every gateway, and free of secrets. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'

/** Put together once for each target: every look at its health asks for it. */
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
