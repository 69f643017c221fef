/** A key's lists of allowed models and providers, in the form of request and response bodies. */
import { Type } from '@sinclair/typebox'
import { findSold } from '@/catalog/aliases'
import type { Catalog } from '@/catalog/types'
import { invalidRequest } from '@/chat/error'
import { orNull } from '@/lib/schemas'
import { type Field, KEY_FIELDS, type KeyRules } from './fields'

const { allowedModels, allowedProviders } = KEY_FIELDS

/** Maximum bytes of both lists in a body: three bytes a character, with quotes and comma. */
export const MAX_ALLOWED_BYTES = [allowedModels, allowedProviders].reduce(
  (bytes, { items: { most, chars } }) => bytes + most * (3 * chars + 3),
  0,
)

/** The schema of an allow-list. */
export function idsField({ words, items = { most: 0, chars: 0 } }: Field) {
  const Id = Type.String({ minLength: 1, maxLength: items.chars })
  return orNull(Type.Array(Id, { minItems: 1, maxItems: items.most }), { description: words })
}

type Allowed = Pick<KeyRules, 'allowedModels' | 'allowedProviders'>

/** The account's or member's lists. A key may allow nothing outside them. `of` names their keys in errors: `all keys of this account`. */
export type Bound = Allowed & { of: string }

/** The bound that an account's rules set for all its keys. */
export function boundOfAccount(policy: Allowed): Bound {
  return { ...policy, of: 'all keys of this account' }
}

/**
 * Returns the requested lists with each alias replaced by its model's id. Throws `invalid_request` that names the list if an id is missing
 * in the catalogue or exceeds one of `bounds`. Ids that are in `present` already may stay.
 */
export function readAllowedLists<Asked extends Partial<Allowed>>(
  asked: Asked,
  catalog: Catalog,
  present: Allowed | undefined = undefined,
  bounds: readonly Bound[] = [],
): Asked {
  const { allowedModels } = asked
  const named = allowedModels
    ? { ...asked, allowedModels: allowedModels.map((name) => findSold(catalog, name)?.id ?? name) }
    : asked
  for (const list of ['allowedModels', 'allowedProviders'] as const)
    for (const id of named[list] ?? []) {
      const fault = present?.[list]?.includes(id) ? undefined : faultOf(list, id, catalog, bounds)
      if (fault) throw invalidRequest(fault, list)
    }
  return named
}

function faultOf(list: keyof Allowed, id: string, { models, tiers, providers }: Catalog, bounds: readonly Bound[]) {
  const isModel = list === 'allowedModels'
  const subject = `The ${isModel ? 'model' : 'provider'} '${id}'`
  if (isModel && tiers.has(id)) return `${subject} is a tier: allow the models that it may choose instead.`
  if (!(isModel ? models : providers).has(id)) return `${subject} does not exist.`
  const exceeded = bounds.find((bound) => bound[list]?.includes(id) === false)
  return exceeded && `${subject} is beyond the rules for ${exceeded.of}.`
}
