/** Converts a key's settings between code, Postgres columns, request bodies and the audit log. */
import type { AuditDetails } from '@/db/administration-schema'
import type { apiKeys } from '@/db/schema'
import type { Addresses } from '@/ledger/address-lists'
import type { DefaultLimits, KeyLimits } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { formatUsd, type Nano } from '@/lib/money'
import {
  FIELD_ROWS,
  type KeyRules,
  type KeySettings,
  type Kind,
  MAX_KEY_LIMIT,
  type WireSettings,
} from '@/people/keys/fields'

type KeyRow = typeof apiKeys.$inferSelect

/** A key's own limits. Gateways enforce `effectiveLimits`. */
export type OwnLimits = Omit<KeyLimits, 'dataRules'> & KeyRules

/** Converts values of each kind for their columns. Asserts counts from 1 to {@link MAX_KEY_LIMIT} and a budget that is not negative. */
const STORED: Partial<Record<Kind, (value: unknown) => unknown>> = {
  count(count) {
    const isSound = count === null || (Number.isInteger(count) && Number(count) >= 1 && Number(count) <= MAX_KEY_LIMIT)
    assert(isSound, 'a limit is out of range')
    return count
  },
  usd(amount) {
    assert(amount === null || Number(amount) >= 0, 'a budget is out of range')
    return amount
  },
  moment: (atMs) => (atMs === null ? null : new Date(Number(atMs))),
  ids: (list) => list && [...new Set(list as string[])],
  regions: (list) => list && [...new Set(list as string[])],
}

/** The given settings by the names of their Postgres columns. */
export function keyColumns(settings: Partial<KeySettings>): Partial<typeof apiKeys.$inferInsert> {
  const given = FIELD_ROWS.filter(({ name }) => settings[name] !== undefined)
  return Object.fromEntries(
    given.map(({ name, kind, column }) => [column, STORED[kind]?.(settings[name]) ?? settings[name]]),
  )
}

/** The settings of a key's row. */
export function settingsOf(row: KeyRow): KeySettings {
  const values = FIELD_ROWS.map(({ name, column }) => {
    const value = row[column as keyof KeyRow]
    return [name, value instanceof Date ? value.getTime() : value]
  })
  return Object.fromEntries(values) as KeySettings
}

/** The limits and rules among the settings of a key's row. */
export function limitsOf(row: KeyRow): OwnLimits {
  const settings = settingsOf(row)
  const limits = FIELD_ROWS.filter(({ raise }) => raise !== undefined)
  return Object.fromEntries(limits.map(({ name }) => [name, settings[name]])) as OwnLimits
}

/** The settings under their names in bodies: amounts as decimal texts of USD, moments as ISO 8601. */
export function wireOf(settings: KeySettings): WireSettings {
  return Object.fromEntries(
    FIELD_ROWS.map(({ name, wire, kind }) => [wire, toWire(kind, settings[name])]),
  ) as WireSettings
}

function toWire(kind: Kind, value: unknown): unknown {
  if (Array.isArray(value)) return [...value]
  if (value === null) return null
  if (kind === 'usd') return formatUsd(value as Nano)
  return kind === 'moment' ? new Date(Number(value)).toISOString() : value
}

const MAX_QUOTED = 100

/** The settings that `said` contains, with their values from `values`, for the audit log. */
export function describeSettings(said: Partial<KeySettings>, values: Partial<KeySettings> = said): AuditDetails {
  const rows = FIELD_ROWS.filter(({ name }) => said[name] !== undefined)
  const told = rows.map(({ name, kind, wire }) => {
    const value = values[name] ?? null
    if (kind === 'networks') return [wire, describeAddresses(value as Addresses)]
    return [wire, Array.isArray(value) ? value.slice(0, MAX_QUOTED).join(', ') : toWire(kind, value)]
  })
  const { allowedModels } = values
  return {
    ...Object.fromEntries(told),
    ...(said.allowedModels !== undefined && allowedModels && { allowedModelCount: allowedModels.length }),
  }
}

/** A list of networks as audit text. */
export function describeAddresses(addresses: Addresses): string {
  return addresses?.join(', ') ?? 'everywhere'
}

/** The names of limits that `changes` raises above `present`. Null counts as the default, or unlimited. Turning a flag off is a raise. */
export function limitsRaised(
  changes: Partial<KeySettings>,
  present: OwnLimits,
  defaults: DefaultLimits,
): (keyof OwnLimits)[] {
  const limits = FIELD_ROWS.filter(({ raise }) => raise !== undefined).map(({ name }) => name as keyof OwnLimits)
  return limits.filter((limit) => {
    const [asked, before] = [changes[limit], present[limit]]
    if (asked === undefined) return false
    if (typeof asked === 'boolean') return before === true && !asked
    if (Array.isArray(before)) return asked === null || (asked as readonly string[]).some((id) => !before.includes(id))
    const otherwise = limit in defaults ? defaults[limit as keyof DefaultLimits] : Number.POSITIVE_INFINITY
    return !Array.isArray(asked) && Number(asked ?? otherwise) > Number(before ?? otherwise)
  })
}
