/** Decides which health data a new catalogue keeps: all, except of upstreams that were removed or have another address. */
import type { Catalog, Provider } from '@/catalog/types'
import { providerKeyId, targetId } from './target-id'

/** Whether data under this id (of a target, a provider key, or a target with a key) is obsolete. */
export type IsGone = (id: string) => boolean

/** Compares the catalogues `before` and `next`. Ids unknown to both are kept. */
export function goneBetween(before: Catalog, next: Catalog): IsGone {
  const [old, kept] = [namesIn(before), namesIn(next)]
  const moved = new Set(
    [...before.providers.values()].filter((provider) => hasMoved(provider, next)).map(({ name }) => name),
  )
  return (id) => {
    // The id may be the target's name, a space and the key.
    const [subject = id] = id.split(' ')
    if (moved.has(subject.slice(0, subject.indexOf('/')))) return true
    return old.has(subject) && !kept.has(subject)
  }
}

/** Whether `next` lacks the provider, or has another upstream with the same name. */
function hasMoved(provider: Provider, { providers }: Catalog): boolean {
  const now = providers.get(provider.name)
  return !now || !isSameUpstream(provider, now)
}

/** Whether one provider's keys are valid for the other. */
export function isSameUpstream(one: Provider, other: Provider): boolean {
  return one.baseUrl === other.baseUrl && one.format === other.format && one.dialect.name === other.dialect.name
}

function namesIn({ providers, models }: Catalog): Set<string> {
  const targets = [...models.values()].flatMap((model) => model.targets.map(targetId))
  const keys = [...providers.values()].flatMap((provider) => provider.keys.map((key) => providerKeyId(provider, key)))
  return new Set([...targets, ...keys])
}
