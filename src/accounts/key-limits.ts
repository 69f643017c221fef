/** The limits of a key on their way into the history: checked, as columns, and as the audit log tells them. */
import type { AuditDetails } from '@/db/administration-schema'
import type { apiKeys } from '@/db/schema'
import type { Addresses } from '@/ledger/address-lists'
import type { DefaultLimits, KeyLimits } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { formatUsd } from '@/lib/money'
import type { KeyTags } from './key-listing'

/** The highest limit of a key that the column of requests per minute holds; far beyond what one gateway serves. */
export const MAX_KEY_LIMIT = 2_000_000_000

type LimitColumns = Partial<typeof apiKeys.$inferInsert>

/** The limits as columns. Asserts counts from 1 to {@link MAX_KEY_LIMIT} and a budget that is not negative. */
export function limitColumns(limits: Partial<KeyLimits>): LimitColumns {
  const { requestsPerMinute, tokensPerMinute, concurrency, monthlyBudget, expiresAtMs } = limits
  const { allowedModels, allowedProviders } = limits
  for (const limit of [requestsPerMinute, tokensPerMinute, concurrency]) {
    assert(
      limit == null || (Number.isInteger(limit) && limit >= 1 && limit <= MAX_KEY_LIMIT),
      'a limit is out of range',
    )
  }
  assert(monthlyBudget == null || monthlyBudget >= 0, 'a budget is out of range')
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
    ...(monthlyBudget !== undefined && { monthlyBudget }),
    ...(expiresAtMs !== undefined && { expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs) }),
    ...(allowedModels !== undefined && { allowedModels: allowedModels && [...new Set(allowedModels)] }),
    ...(allowedProviders !== undefined && { allowedProviders: allowedProviders && [...new Set(allowedProviders)] }),
  }
}

/** Which of the limits that `changes` names let a key do more than `present` does; null counts as `defaults`, or as no bound. */
export function limitsRaised(
  changes: Partial<KeyLimits>,
  present: KeyLimits,
  defaults: DefaultLimits,
): (keyof KeyLimits)[] {
  const isRaised: Record<keyof KeyLimits, boolean> = {
    requestsPerMinute: exceeds(changes.requestsPerMinute, present.requestsPerMinute, defaults.requestsPerMinute),
    tokensPerMinute: exceeds(changes.tokensPerMinute, present.tokensPerMinute, defaults.tokensPerMinute),
    concurrency: exceeds(changes.concurrency, present.concurrency, defaults.concurrency),
    monthlyBudget: exceeds(changes.monthlyBudget, present.monthlyBudget, Number.POSITIVE_INFINITY),
    expiresAtMs: exceeds(changes.expiresAtMs, present.expiresAtMs, Number.POSITIVE_INFINITY),
    allowedModels: allowsMore(changes.allowedModels, present.allowedModels),
    allowedProviders: allowsMore(changes.allowedProviders, present.allowedProviders),
  }
  return (Object.keys(isRaised) as (keyof KeyLimits)[]).filter((limit) => isRaised[limit])
}

function exceeds(asked: number | null | undefined, present: number | null, otherwise: number): boolean {
  return asked !== undefined && (asked ?? otherwise) > (present ?? otherwise)
}

function allowsMore(asked: readonly string[] | null | undefined, present: readonly string[] | null): boolean {
  if (asked === undefined || present === null) return false
  return asked === null || asked.some((id) => !present.includes(id))
}

/** Ids of models that one entry of the audit log quotes. */
const MAX_QUOTED_MODELS = 50

/** The limits as the audit log keeps them: amounts as decimal texts of USD, moments as ISO 8601. */
export function describeLimits(limits: Partial<KeyLimits>): AuditDetails {
  const { monthlyBudget, expiresAtMs, allowedModels, allowedProviders, ...counts } = limits
  return {
    ...counts,
    ...(monthlyBudget !== undefined && { monthlyBudgetUsd: monthlyBudget === null ? null : formatUsd(monthlyBudget) }),
    ...(expiresAtMs !== undefined && { expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString() }),
    ...(allowedModels !== undefined && {
      allowedModels: allowedModels?.slice(0, MAX_QUOTED_MODELS).join(', ') ?? null,
      ...(allowedModels && { allowedModelCount: allowedModels.length }),
    }),
    ...(allowedProviders !== undefined && { allowedProviders: allowedProviders?.join(', ') ?? null }),
  }
}

/** A list of networks as the audit log has it. */
export function describeAddresses(addresses: Addresses): string {
  return addresses?.join(', ') ?? 'everywhere'
}

/** A key's text lists (addresses, tags). `undefined`: unchanged. */
type KeyLists = { allowedAddresses: Addresses | undefined; tags: KeyTags | undefined }

/** The given lists as columns. */
export function listColumns({ allowedAddresses, tags }: KeyLists): LimitColumns {
  return {
    ...(allowedAddresses !== undefined && { allowedAddresses: allowedAddresses && [...allowedAddresses] }),
    ...(tags !== undefined && { tags: tags && [...tags] }),
  }
}

/** The values of the given lists, for the audit log. */
export function describeLists(said: KeyLists, values: KeyLists = said): AuditDetails {
  return {
    ...(said.allowedAddresses !== undefined && {
      allowedAddresses: describeAddresses(values.allowedAddresses ?? null),
    }),
    ...(said.tags !== undefined && { tags: values.tags?.join(', ') ?? null }),
  }
}
