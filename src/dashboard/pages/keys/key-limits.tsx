/** The settings of an API key in words, with what holds where it has none of its own. */
import { FIELD_ROWS } from '@/people/keys/fields'
import { FieldFacts } from '@/people/list'
import { settingsOf } from './key-form'
import { type KeyBody, useKeys } from './keys-data'

/** Every limit, and the tags of its usage. The end is the earlier one, by its own limit or by the greatest age of keys. */
export function KeyLimits({ item }: { item: KeyBody }) {
  const settings = { ...settingsOf(item), expiresAt: item.endsAt }
  return <FieldFacts rows={FIELD_ROWS} settings={settings} defaults={useKeys().data?.defaults ?? {}} />
}
