/** API keys as the dashboard's routes take and show them, and the way between these words and the domain's. */
import { type Static, Type } from '@sinclair/typebox'
import { limitsAbove } from '@/accounts/account-limits'
import { type KeyChanges, type KeyListing, MAX_KEY_LIMIT } from '@/accounts/api-keys'
import { DEFAULT_OVERLAP, OVERLAP_RULE, parseOverlap } from '@/accounts/rotation/rotate-key'
import type { Catalog } from '@/catalog/types'
import { invalidRequest } from '@/chat/error'
import { exactly, isoMoments, NullableText, DecimalUsd as Usd } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { bothLists } from '@/ledger/allowed'
import type { DefaultLimits } from '@/ledger/outcomes'
import { formatUsd, type Nano, parseUsd, ZERO_NANO } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { ALLOWED_FIELDS, type Bound, MAX_ALLOWED_BYTES, readAllowedLists, SHOWN_ALLOWED } from './allowed-lists'
import { AllowedAddresses, KeyTagsField, readAddresses, readTags } from './key-lists'

const count = (description: string) =>
  Type.Optional(
    orNull(Type.Integer({ minimum: 1, maximum: MAX_KEY_LIMIT }), {
      description: `${description}, at most the account's \`ceilings\`; null = the service's default`,
    }),
  )

/** Both lists, and the few fields beside them. */
export const MAX_KEY_BODY_BYTES = MAX_ALLOWED_BYTES + 4096
const MAX_MOMENT_CHARS = 40

const LIMITS = {
  requestsPerMinute: count('Requests per minute'),
  tokensPerMinute: count('Tokens per minute, input and output limit together'),
  concurrency: count('Requests open at once'),
  monthlyBudgetUsd: Type.Optional(
    orNull(Type.String({ maxLength: 20, examples: ['25.50'] }), {
      description: 'Decimal USD per calendar month (UTC); null = none',
    }),
  ),
  expiresAt: Type.Optional(
    orNull(Type.String({ maxLength: MAX_MOMENT_CHARS, examples: ['2027-01-01T00:00:00Z'] }), {
      description: 'ISO 8601 moment in the future from which the key is refused; null = never',
    }),
  ),
  ...ALLOWED_FIELDS,
}

const LISTS = {
  allowedAddresses: Type.Optional(AllowedAddresses),
  tags: Type.Optional(KeyTagsField),
  withoutMyAddress: Type.Optional(
    Type.Literal(true, {
      description:
        'Takes a list that the address of this request is not in, as for programs that run elsewhere (400 otherwise)',
    }),
  ),
}

/** 1 to 200 characters that are not all blanks. */
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })

export const NewKeyBody = exactly(
  {
    name: Name,
    isService: Type.Optional(
      Type.Boolean({
        description:
          'The account’s own, of no member; always so by the management API. No member’s budget binds it, so `monthlyBudgetUsd` has to be said, null for no limit',
      }),
    ),
    ...LIMITS,
    ...LISTS,
  },
  { title: 'NewApiKey' },
)
export const KeyChangesBody = exactly(
  { name: Type.Optional(Name), ...LIMITS, ...LISTS },
  { title: 'ApiKeyChanges', minProperties: 1 },
)
export type KeyChangesBody = Static<typeof KeyChangesBody>

const NullableInteger = orNull(Type.Integer())

export const KeyBody = titled('ApiKey', {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key' }),
  lastFour: Type.String(),
  status: oneOf(['active', 'deactivated', 'expired']),
  builtIn: Type.Boolean({ description: 'Made by the service for the playground: can be deactivated, not deleted' }),
  createdBy: orNull(Type.Object({ userId: Type.String(), name: Type.String() }), {
    description: 'The member whose key it is; null for those of the account as a whole',
  }),
  limits: Type.Object({
    requestsPerMinute: NullableInteger,
    tokensPerMinute: NullableInteger,
    concurrency: NullableInteger,
    monthlyBudgetUsd: NullableText,
    expiresAt: NullableText,
    ...SHOWN_ALLOWED,
    allowedAddresses: orNull(Type.Array(Type.String())),
  }),
  tags: KeyTagsField,
  spentThisMonthUsd: Usd,
  budgetUsed: orNull(Type.Number(), {
    description: 'Share of the monthly budget that is spent, 0 to 1 and above; null without a budget',
  }),
  lastUsedAt: NullableText,
  createdAt: Type.String(),
  endsAt: orNull(Type.String(), { description: 'By its own limit, or by the greatest age of keys in the account' }),
  formerSecret: orNull(Type.Object({ lastFour: Type.String(), endsAt: Type.String(), lastUsedAt: NullableText }), {
    description: 'The text that the key had before, as long as it works; null where there is none',
  }),
})
export type KeyBody = Static<typeof KeyBody>

/** A key as people see it. `nowMs` says which month it is, and whether the key has expired. */
export function keyBody(key: KeyListing, nowMs: number, spent: Nano = spentInMonth(key, nowMs)): KeyBody {
  const { name, prefix, lastFour, createdAt, lastUsedAt, formerSecret } = key
  const { requestsPerMinute, tokensPerMinute, concurrency, monthlyBudget, expiresAtMs } = key
  const isExpired = key.endsAtMs !== null && key.endsAtMs <= nowMs
  return {
    id: key.keyId,
    ...isoMoments({ name, prefix, lastFour, createdAt, lastUsedAt }),
    status: key.status !== 'active' ? 'deactivated' : isExpired ? 'expired' : 'active',
    builtIn: key.builtIn !== null,
    createdBy: key.createdBy === null ? null : { userId: key.createdBy, name: key.createdByName ?? '' },
    limits: {
      requestsPerMinute,
      tokensPerMinute,
      concurrency,
      monthlyBudgetUsd: monthlyBudget === null ? null : formatUsd(monthlyBudget),
      expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
      ...bothLists(key),
      allowedAddresses: key.allowedAddresses && [...key.allowedAddresses],
    },
    tags: key.tags && [...key.tags],
    spentThisMonthUsd: formatUsd(spent),
    budgetUsed: monthlyBudget === null ? null : monthlyBudget === 0 ? 1 : spent / monthlyBudget,
    endsAt: key.endsAtMs === null ? null : new Date(key.endsAtMs).toISOString(),
    formerSecret: formerSecret && isoMoments(formerSecret),
  }
}

export const RotationBody = exactly({
  overlap: Type.Optional(
    Type.String({
      maxLength: 10,
      default: DEFAULT_OVERLAP,
      examples: ['0', '30m', '24h', '7d'],
      description: 'How long the text before goes on working: `0`, or a number with s, m, h or d, at most 30d',
    }),
  ),
})

/** Reads an overlap as milliseconds. Throws `invalid_request` where it is none. */
export function readOverlap({ overlap = DEFAULT_OVERLAP }: Static<typeof RotationBody>): number {
  const overlapMs = parseOverlap(overlap)
  if (overlapMs !== undefined) return overlapMs
  throw invalidRequest(`The overlap ${OVERLAP_RULE}.`, 'overlap')
}

/** What the history knows of this month's charges. */
function spentInMonth(key: KeyListing, nowMs: number): Nano {
  const now = new Date(nowMs)
  const month = now.getUTCFullYear() * 100 + now.getUTCMonth() + 1
  return key.spentMonth === month ? key.spentThisMonth : ZERO_NANO
}

/** What a key may be given, and the key as it is. */
type KeyBounds = {
  catalog: Catalog
  ceilings: DefaultLimits
  /** The rules for all keys of the account, and of its member. */
  bounds: readonly Bound[]
  nowMs: number
  present?: KeyListing
}

/** Reads what a person wants of a key. Throws `invalid_request` for bad amounts, moments, limits and lists. */
export function readKeyChanges(
  {
    name,
    monthlyBudgetUsd,
    expiresAt,
    allowedAddresses,
    tags,
    withoutMyAddress: _,
    isService: __,
    ...others
  }: KeyChangesBody & { isService?: boolean },
  { catalog, ceilings, bounds, nowMs, present }: KeyBounds,
): KeyChanges {
  const [above] = Object.keys(limitsAbove(others, ceilings)) as (keyof DefaultLimits)[]
  if (above) {
    throw invalidRequest(`The limit may be at most ${ceilings[above]}, which is that of the whole account.`, above)
  }
  return {
    ...readAllowedLists(others, catalog, present, bounds),
    ...(name !== undefined && { name: name.trim() }),
    ...(monthlyBudgetUsd !== undefined && {
      monthlyBudget: monthlyBudgetUsd === null ? null : readBudget(monthlyBudgetUsd),
    }),
    ...(expiresAt !== undefined && { expiresAtMs: expiresAt === null ? null : readMoment(expiresAt, nowMs) }),
    ...(allowedAddresses !== undefined && { allowedAddresses: readAddresses(allowedAddresses) }),
    ...(tags !== undefined && { tags: readTags(tags) }),
  } as KeyChanges
}

function readBudget(text: string): Nano {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= 0) return amount
  throw invalidRequest('The monthly budget must be an amount of USD such as 25 or 25.50.', 'monthlyBudgetUsd')
}

/** Reads a moment in the future as milliseconds. Throws `invalid_request` for anything else. */
export function readMoment(text: string, nowMs: number): number {
  const moment = /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(moment)) {
    throw invalidRequest('The expiry must be a moment such as 2027-01-01T00:00:00Z.', 'expiresAt')
  }
  if (moment <= nowMs) throw invalidRequest('The expiry must lie in the future.', 'expiresAt')
  return moment
}
