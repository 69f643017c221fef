/** The form of an API key: its name and its settings. Only changed fields are sent. */
import { changesIn, checksOf, formOf, labelsOf } from '@/people/form-values'
import { FIELD_ROWS, type FormSettings, KEY_NAME, type WireSettings } from '@/people/keys/fields'
import type { KeyBody } from './keys-data'

export type KeyForm = FormSettings & {
  name: string
  /** The allowed addresses need not include the person's own. */
  withoutMyAddress: boolean
}

/** The labels of the form's fields. */
export const KEY_LABELS: Partial<Record<keyof KeyForm, string>> = {
  name: KEY_NAME.label,
  ...labelsOf(FIELD_ROWS),
}

/** The form's values for a key, or for a new key if `item` is undefined. */
export function formOfKey(item?: KeyBody): KeyForm {
  const settings = formOf(FIELD_ROWS, item && settingsOf(item)) as FormSettings
  return { ...settings, name: item?.name ?? '', withoutMyAddress: false }
}

/** All settings of a key by name, including limits. */
export function settingsOf({ limits, ...others }: KeyBody): WireSettings {
  return { ...others, ...limits }
}

/** The fields whose values differ from `before`, with the server's names and values. */
export function changesFrom(before: KeyForm, now: KeyForm) {
  const settings: Partial<WireSettings> = changesIn(FIELD_ROWS, before, now)
  const isElsewhere = settings.allowedAddresses !== undefined && now.withoutMyAddress
  const name = now.name.trim()
  return { ...settings, ...(name !== before.name && { name }), ...(isElsewhere && { withoutMyAddress: true as const }) }
}

/** The browser's checks of a form whose first values were `before`. */
export function checksOfKey(before: KeyForm) {
  return {
    ...checksOf(FIELD_ROWS, before),
    name: (name: string) => (name.trim() === '' ? KEY_NAME.missing : null),
  }
}
