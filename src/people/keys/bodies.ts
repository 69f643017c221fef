/** API keys in request and response bodies, and their conversion to the domain's types. */
import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { limitsAbove } from '@/accounts/account-limits'
import type { KeyChanges, KeyListing } from '@/accounts/api-keys'
import { wireOf } from '@/accounts/key-limits'
import { DEFAULT_OVERLAP, OVERLAP_RULE, parseOverlap } from '@/accounts/rotation/rotate-key'
import type { Catalog } from '@/catalog/types'
import { invalidRequest } from '@/chat/error'
import { REGION_PATTERN } from '@/chat/preferences'
import { exactly, isoMoments, NullableText, DecimalUsd as Usd } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import type { DefaultLimits } from '@/ledger/outcomes'
import { formatUsd, type Nano, parseUsd, ZERO_NANO } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { type Bound, idsField, MAX_ALLOWED_BYTES, readAllowedLists } from './allowed-lists'
import {
  FIELD_ROWS,
  type Field,
  fieldOf,
  KEY_NAME,
  type Kind,
  type LimitName,
  MAX_KEY_LIMIT,
  MAX_USD_CHARS,
  ofEachRule,
  type RuleName,
  rulesOf,
  type WireSettings,
} from './fields'
import { AllowedAddresses, KeyTagsField, readAddresses, readTags } from './key-lists'

/** Maximum bytes of a key's body: its lists with three bytes a character, and 4 kB for all other fields. */
export const MAX_KEY_BODY_BYTES = MAX_ALLOWED_BYTES + 4096
const MAX_MOMENT_CHARS = 40

const NullableInteger = orNull(Type.Integer())
const Texts = orNull(Type.Array(Type.String()))

/** The schemas of each kind of setting: in a request body, and in a response. */
const SCHEMAS: Record<Kind, { taken(field: Field): TSchema; shown: TSchema | ((field: Field) => TSchema) }> = {
  count: {
    taken: ({ words }) => orNull(Type.Integer({ minimum: 1, maximum: MAX_KEY_LIMIT }), { description: words }),
    shown: NullableInteger,
  },
  usd: {
    taken: ({ words }) =>
      orNull(Type.String({ maxLength: MAX_USD_CHARS, examples: ['25.50'] }), { description: words }),
    shown: NullableText,
  },
  moment: {
    taken: ({ words }) =>
      orNull(Type.String({ maxLength: MAX_MOMENT_CHARS, examples: ['2027-01-01T00:00:00Z'] }), { description: words }),
    shown: NullableText,
  },
  ids: { taken: idsField, shown: Texts },
  networks: { taken: () => AllowedAddresses, shown: Texts },
  tags: { taken: () => KeyTagsField, shown: KeyTagsField },
  regions: { taken: regionsField, shown: Texts },
  flag: { taken: flagField, shown: flagField },
}

function flagField({ words }: Field) {
  return Type.Boolean({ description: words })
}

function regionsField({ words, items = { most: 0, chars: 0 } }: Field) {
  const Region = Type.String({ pattern: REGION_PATTERN, maxLength: items.chars, examples: ['eu', 'us-east-1'] })
  return orNull(Type.Array(Region, { minItems: 1, maxItems: items.most }), { description: words })
}

type Taken = { [Name in keyof WireSettings]: TOptional<TUnsafe<WireSettings[Name]>> }
type Shown<Name extends keyof WireSettings> = { [One in Name]: TUnsafe<WireSettings[One]> }

const TAKEN = Object.fromEntries(
  FIELD_ROWS.map((field) => [field.wire, Type.Optional(SCHEMAS[field.kind].taken(field))]),
) as Taken

function shownField(field: Field): TSchema {
  const schema = SCHEMAS[field.kind].shown
  return typeof schema === 'function' ? schema(field) : schema
}

function shown(isLimit: boolean) {
  const rows = FIELD_ROWS.filter((field) => field.isLimit === isLimit)
  return Object.fromEntries(rows.map((field) => [field.wire, shownField(field)]))
}

/** The schemas of rules for several keys, in requests and in responses. */
export const RULES_TAKEN = rulesOf(TAKEN)
export const SHOWN_RULES = ofEachRule((name) => shownField(fieldOf(name))) as Shown<RuleName>

const WithoutMyAddress = Type.Optional(
  Type.Literal(true, {
    description:
      'Takes a list that the address of this request is not in, as for programs that run elsewhere (400 otherwise)',
  }),
)

/** A key's name, with at least one character that is not blank. */
const Name = Type.String({ minLength: 1, maxLength: KEY_NAME.most, pattern: '\\S' })

export const NewKeyBody = exactly(
  {
    name: Name,
    isService: Type.Optional(
      Type.Boolean({
        description:
          'The account’s own, of no member; always so by the management API. No member’s budget binds it, so `monthlyBudgetUsd` has to be said, null for no limit',
      }),
    ),
    ...TAKEN,
    withoutMyAddress: WithoutMyAddress,
  },
  { title: 'NewApiKey' },
)
export const KeyChangesBody = exactly(
  { name: Type.Optional(Name), ...TAKEN, withoutMyAddress: WithoutMyAddress },
  { title: 'ApiKeyChanges', minProperties: 1 },
)
export type KeyChangesBody = Static<typeof KeyChangesBody>

export const KeyBody = titled('ApiKey', {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key' }),
  lastFour: Type.String(),
  status: oneOf(['active', 'deactivated', 'expired']),
  builtIn: Type.Boolean({ description: 'Made by the service for the playground: can be deactivated, not deleted' }),
  createdBy: orNull(Type.Object({ userId: Type.String(), name: Type.String() }), {
    description: 'The key’s member; null for the account’s own keys',
  }),
  limits: Type.Object(shown(true) as Shown<LimitName>),
  ...(shown(false) as Shown<Exclude<keyof WireSettings, LimitName>>),
  spentThisMonthUsd: Usd,
  budgetUsed: orNull(Type.Number(), {
    description: 'Spent share of the monthly budget, from 0, above 1 if exceeded; null without a budget',
  }),
  lastUsedAt: NullableText,
  createdAt: Type.String(),
  endsAt: orNull(Type.String(), { description: 'By its own limit, or by the greatest age of keys in the account' }),
  formerSecret: orNull(Type.Object({ lastFour: Type.String(), endsAt: Type.String(), lastUsedAt: NullableText }), {
    description: 'The former text of the key while it works; null if there is none',
  }),
})
export type KeyBody = Static<typeof KeyBody>

/** A key as a response body. `nowMs` decides the current month, and whether the key has expired. */
export function keyBody(key: KeyListing, nowMs: number, spent: Nano = spentInMonth(key, nowMs)): KeyBody {
  const { name, prefix, lastFour, createdAt, lastUsedAt, formerSecret } = key
  const { monthlyBudget } = key
  const isExpired = key.endsAtMs !== null && key.endsAtMs <= nowMs
  return {
    id: key.keyId,
    ...isoMoments({ name, prefix, lastFour, createdAt, lastUsedAt }),
    status: key.status !== 'active' ? 'deactivated' : isExpired ? 'expired' : 'active',
    builtIn: key.builtIn !== null,
    createdBy: key.createdBy === null ? null : { userId: key.createdBy, name: key.createdByName ?? '' },
    ...shownSettings(key),
    spentThisMonthUsd: formatUsd(spent),
    budgetUsed: monthlyBudget === null ? null : monthlyBudget === 0 ? 1 : spent / monthlyBudget,
    endsAt: key.endsAtMs === null ? null : new Date(key.endsAtMs).toISOString(),
    formerSecret: formerSecret && isoMoments(formerSecret),
  }
}

/** The name and the settings of a key in a response: the fields that its form changes. */
export function settingsIn({ name, limits, ...others }: KeyBody): { name: string } & WireSettings {
  const values: WireSettings = { ...others, ...limits }
  const fields = FIELD_ROWS.map(({ wire }) => [wire, values[wire as keyof WireSettings]])
  return { name, ...(Object.fromEntries(fields) as WireSettings) }
}

function shownSettings(key: KeyListing) {
  const settings = wireOf(key)
  const fields = (isLimit: boolean) =>
    FIELD_ROWS.filter((field) => field.isLimit === isLimit).map(({ wire }) => [
      wire,
      settings[wire as keyof WireSettings],
    ])
  return {
    limits: Object.fromEntries(fields(true)) as Pick<WireSettings, LimitName>,
    ...(Object.fromEntries(fields(false)) as Omit<WireSettings, LimitName>),
  }
}

export const RotationBody = exactly({
  overlap: Type.Optional(
    Type.String({
      maxLength: 10,
      default: DEFAULT_OVERLAP,
      examples: ['0', '30m', '24h', '7d'],
      description: 'How long the old text still works: `0`, or a number with s, m, h or d, at most 30d',
    }),
  ),
})

/** Reads an overlap as milliseconds. Throws `invalid_request` for a text that is no overlap. */
export function readOverlap({ overlap = DEFAULT_OVERLAP }: Static<typeof RotationBody>): number {
  const overlapMs = parseOverlap(overlap)
  if (overlapMs !== undefined) return overlapMs
  throw invalidRequest(`The overlap ${OVERLAP_RULE}.`, 'overlap')
}

function spentInMonth(key: KeyListing, nowMs: number): Nano {
  const now = new Date(nowMs)
  const month = now.getUTCFullYear() * 100 + now.getUTCMonth() + 1
  return key.spentMonth === month ? key.spentThisMonth : ZERO_NANO
}

type KeyBounds = {
  catalog: Catalog
  ceilings: DefaultLimits
  /** The account's rules for all its keys, and the member's rules for theirs. */
  bounds: readonly Bound[]
  nowMs: number
  present?: KeyListing
}

/** Reads the requested settings of a key. Throws `invalid_request` for bad amounts, times, limits and lists. */
export function readKeyChanges(
  body: KeyChangesBody,
  { catalog, ceilings, bounds, nowMs, present }: KeyBounds,
): KeyChanges {
  const [above] = Object.keys(limitsAbove(body, ceilings)) as (keyof DefaultLimits)[]
  if (above) {
    throw invalidRequest(`The limit may be at most ${ceilings[above]}, which is that of the whole account.`, above)
  }
  const given: Partial<WireSettings> = { ...body, ...readAllowedLists(body, catalog, present, bounds) }
  const rows = FIELD_ROWS.map((field) => ({ ...field, value: given[field.wire as keyof WireSettings] }))
  const read = rows
    .filter(({ value }) => value !== undefined)
    .map(({ name, kind, value }) => [name, readValue(kind, value, nowMs)])
  return { ...(body.name !== undefined && { name: body.name.trim() }), ...Object.fromEntries(read) }
}

function readValue(kind: Kind, value: unknown, nowMs: number): unknown {
  if (value === null) return null
  if (kind === 'usd') return readBudget(String(value))
  if (kind === 'moment') return readMoment(String(value), nowMs)
  if (kind === 'networks') return readAddresses(value as string[])
  return kind === 'tags' ? readTags(value as string[]) : value
}

function readBudget(text: string): Nano {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= 0) return amount
  throw invalidRequest('The monthly budget must be an amount of USD such as 25 or 25.50.', 'monthlyBudgetUsd')
}

/** Reads a future time as milliseconds. Throws `invalid_request` for a past time or an invalid text. */
export function readMoment(text: string, nowMs: number): number {
  const moment = /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(moment)) {
    throw invalidRequest('The expiry must be a moment such as 2027-01-01T00:00:00Z.', 'expiresAt')
  }
  if (moment <= nowMs) throw invalidRequest('The expiry must lie in the future.', 'expiresAt')
  return moment
}
