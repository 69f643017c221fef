/** Transfers the experience to a new catalogue: all of it, except for upstreams that are gone or have another address. */
import type { Catalog, Provider } from '@/catalog/types'
import { providerKeyId, targetId } from './target-id'

/** Whether a name of a target, of a provider key, or of what a target asked for with a key, means nothing after a change. */
export type IsGone = (id: string) => boolean

/** Says it of the change from `before` to `next`. What neither knows is kept. */
export function goneBetween(before: Catalog, next: Catalog): IsGone {
  const [old, kept] = [namesIn(before), namesIn(next)]
  const moved = new Set(
    [...before.providers.values()].filter((provider) => hasMoved(provider, next)).map(({ name }) => name),
  )
  return (id) => {
    // An entry for one target has the target's name, a space and the key.
    const [subject = id] = id.split(' ')
    if (moved.has(subject.slice(0, subject.indexOf('/')))) return true
    return old.has(subject) && !kept.has(subject)
  }
}

/** Whether `provider` is another upstream by the same name in `next`, or none. */
function hasMoved(provider: Provider, { providers }: Catalog): boolean {
  const now = providers.get(provider.name)
  return !now || !isSameUpstream(provider, now)
}

/** Whether the keys of the one are keys for the other. */
export function isSameUpstream(one: Provider, other: Provider): boolean {
  return one.baseUrl === other.baseUrl && one.format === other.format && one.dialect.name === other.dialect.name
}

function namesIn({ providers, models }: Catalog): Set<string> {
  const targets = [...models.values()].flatMap((model) => model.targets.map(targetId))
  const keys = [...providers.values()].flatMap((provider) => provider.keys.map((key) => providerKeyId(provider, key)))
  return new Set([...targets, ...keys])
}
