import { FIELD_ROWS } from '@/people/keys/fields'
import { FieldFacts } from '@/people/list'
import { settingsOf } from './key-form'
import { type KeyBody, useKeys } from './keys-data'

/** The settings of an API key in words, with the defaults. Its end is its own expiry or the maximum age of keys, whichever is earlier. */
export function KeyLimits({ item }: { item: KeyBody }) {
  const settings = { ...settingsOf(item), expiresAt: item.endsAt }
  return <FieldFacts rows={FIELD_ROWS} settings={settings} defaults={useKeys().data?.defaults ?? {}} />
}
