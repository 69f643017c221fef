/** Names for what has health of its own: the same in every gateway, and free of secrets. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'

/** `provider/upstream model`. */
export function targetId(target: Target): string {
  return `${target.provider.name}/${target.model}`
}

/** `provider/digest of the key`. */
export function providerKeyId(provider: Provider, key: ProviderKey): string {
  return `${provider.name}/${key.id}`
}
