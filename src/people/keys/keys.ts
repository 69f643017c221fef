/** The operations on API keys for a member: developers only see and change their own keys. */
import { type Static, Type } from '@sinclair/typebox'
import { ceilingsOf } from '@/accounts/account-limits'
import type { Accounts } from '@/accounts/accounts'
import { type ApiKeys, type ChangeKeyOutcome, type KeyListing, MAX_KEYS_PER_ACCOUNT } from '@/accounts/api-keys'
import type { ChangedBy } from '@/accounts/audit'
import { type OwnLimits, wireOf } from '@/accounts/key-limits'
import type { KeyPolicy } from '@/accounts/policies/effective-limits'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { Member } from '@/console/auth/viewer'
import type { GuardDeps } from '@/console/http/guard'
import { NextCursor, newestFirst, pageOf } from '@/console/http/pages'
import { mapPage, DecimalUsd as Usd } from '@/console/http/wire'
import type { ReadKeyUsage } from '@/console/usage-views/key-usage'
import type { PageRequest } from '@/db/paging'
import { clientAddress } from '@/http/client-address'
import { titled } from '@/http/openapi/titled'
import type { Addresses } from '@/ledger/address-lists'
import type { Ledger } from '@/ledger/ledger'
import type { DefaultLimits } from '@/ledger/outcomes'
import { formatUsd, nano, ZERO_NANO } from '@/lib/money'
import type { OperationCaller } from '@/people/operation'
import { expectVersion } from '@/people/version'
import { type Bound, boundOfAccount, readAllowedLists } from './allowed-lists'
import { checkFields, checkRaise, checkService, limitsOfNone, maySee } from './authority'
import {
  KeyBody,
  type KeyChangesBody,
  keyBody,
  type NewKeyBody,
  type RotationBody,
  readKeyChanges,
  readOverlap,
} from './bodies'
import { copyRules, type KeyRules, type KeySettings } from './fields'
import { KeyBudgets, keyBudgets } from './key-budgets'
import { checkOwnAddress, readAddresses } from './key-lists'
import { refused } from './refusals'

export type KeyDeps = GuardDeps & {
  apiKeys: ApiKeys
  accounts: Accounts
  catalog: CatalogSource
  ledger: Ledger
  readKeyUsage: ReadKeyUsage
  /** The rules for all keys of an account; undefined if the account doesn't exist. */
  readKeyPolicy(accountId: string): Promise<KeyPolicy | undefined>
  /** Changes the given rules for the next request of each of the account's keys. `check` gets the locked present rules, and may throw. */
  changeKeyPolicy(
    accountId: string,
    policy: Partial<KeyPolicy>,
    by: ChangedBy,
    check: (before: KeyPolicy) => void,
  ): Promise<unknown>
  readMemberKeyPolicy(of: { accountId: string; userId: string }): Promise<KeyRules | undefined>
  /** The networks from which all keys of an account may be used; undefined if the account doesn't exist. */
  readAddresses(accountId: string): Promise<Addresses | undefined>
  /** Changes these networks; they apply to the next request of each of the account's keys. */
  changeAddresses(
    accountId: string,
    addresses: Addresses,
    by: ChangedBy,
    check: (before: Addresses) => void,
  ): Promise<unknown>
}

type KeyContext = OperationCaller & { deps: KeyDeps }
/** The context of an operation on one key. */
type OneKey = KeyContext & { params: { id: string } }

const COUNTS = { requestsPerMinute: Type.Integer(), tokensPerMinute: Type.Integer(), concurrency: Type.Integer() }

export const KeyList = titled('ApiKeyList', {
  items: Type.Array(KeyBody, { description: 'Newest first' }),
  nextCursor: NextCursor,
  maxKeys: Type.Integer({ description: 'The maximum number of keys, without the built-in one' }),
  defaults: Type.Object(COUNTS, { description: 'Limits of a key without its own' }),
  ceilings: Type.Object(COUNTS, {
    description: "The account's limits, for all its keys together; also the highest limits of one key",
  }),
})

const sums = { spentUsd: Usd, requests: Type.Integer(), errors: Type.Integer() }
const tokens = { inputTokens: Type.Integer(), outputTokens: Type.Integer() }

export const KeyDetail = titled('ApiKeyDetail', {
  item: KeyBody,
  openRequests: Type.Integer({ description: 'Requests in progress' }),
  heldUsd: Usd,
  days: Type.Array(Type.Object({ day: Type.String({ description: 'yyyy-mm-dd, UTC' }), ...sums, ...tokens }), {
    description: 'The latest 30 days, oldest first, days without requests included',
  }),
  total: Type.Object({ ...sums, ...tokens }, { description: 'Sum of these days' }),
  budgets: KeyBudgets,
})

const USAGE_DAYS = 30

/** One page of the keys that the member sees. */
export async function listKeys({ deps, viewer }: KeyContext, query: PageRequest) {
  const [keys, ceilings] = await Promise.all([deps.apiKeys.list(viewer.accountId), readCeilings(deps, viewer)])
  const nowMs = Date.now()
  const seen = keys.filter((key) => maySee(viewer, key))
  const page = pageOf(seen, query, ({ createdAt, keyId }) => newestFirst(createdAt, keyId))
  return {
    ...mapPage(page, (key) => keyBody(key, nowMs)),
    maxKeys: MAX_KEYS_PER_ACCOUNT,
    defaults: defaultsBelow(deps.catalog.current.limits, ceilings),
    ceilings,
  }
}

/** The limits of a key that sets none: the defaults, but not above the account's limits. */
function defaultsBelow(limits: DefaultLimits, ceilings: DefaultLimits): DefaultLimits {
  return {
    requestsPerMinute: Math.min(limits.requestsPerMinute, ceilings.requestsPerMinute),
    tokensPerMinute: Math.min(limits.tokensPerMinute, ceilings.tokensPerMinute),
    concurrency: Math.min(limits.concurrency, ceilings.concurrency),
  }
}

/** The limits of all keys of the account together. */
async function readCeilings({ accounts, catalog }: KeyDeps, { accountId }: Member): Promise<DefaultLimits> {
  const account = await accounts.find(accountId)
  if (!account) throw refused('unknown_account')
  return ceilingsOf(account, catalog.current.limits)
}

/** Makes a key. Only this response contains the key's text. */
export async function createKey(context: KeyContext, body: Static<typeof NewKeyBody>) {
  const { deps, viewer, by } = context
  const { accountId, userId, managementKeyId, operatorKeyId } = viewer
  const isService = (managementKeyId ?? operatorKeyId) !== undefined || body.isService === true
  const { changes, checkLimits } = await readChanges(context, body, isService ? null : userId)
  if (isService) checkService(viewer, body)
  checkLimits(limitsOfNone(viewer))
  const key = { ...changes, accountId, ...(!isService && { createdBy: userId }), name: body.name.trim() }
  const outcome = await deps.apiKeys.create(key, by)
  if (outcome.kind !== 'created') throw refused(outcome.kind)
  return { key: outcome.key, item: await shownKey(context, outcome.keyId) }
}

/** Renames a key and changes its limits. */
export async function changeKey(context: OneKey, body: KeyChangesBody): Promise<KeyBody> {
  const { deps, viewer, by, params, request } = context
  const present = await findOwn(context, params.id)
  const { changes, checkLimits } = await readChanges(context, body, present.createdBy, present)
  const check = (before: KeySettings & { name: string }) => {
    expectVersion(request, { name: before.name, ...wireOf(before) })
    checkLimits(before)
  }
  expectUpdated(await deps.apiKeys.change(params.id, changes, viewer.accountId, by, check))
  return await shownKey(context, params.id)
}

/**
 * The requested settings of a key that belongs to the member `createdBy`, or to no member. `checkLimits(limits)` throws if the settings
 * exceed `limits` and this member may not raise them.
 */
async function readChanges(
  { deps, viewer, request }: KeyContext,
  body: KeyChangesBody,
  createdBy: string | null,
  present?: KeyListing,
) {
  const catalog = deps.catalog.current
  const ceilings = await readCeilings(deps, viewer)
  const bounds = await readBounds(deps, viewer, createdBy)
  const changes = readKeyChanges(body, { catalog, ceilings, bounds, nowMs: Date.now(), ...(present && { present }) })
  checkFields(viewer, changes)
  const { allowedAddresses } = changes
  if (allowedAddresses && !body.withoutMyAddress) checkOwnAddress(allowedAddresses, request, deps.trustedProxyHops)
  const defaults = defaultsBelow(catalog.limits, ceilings)
  return { changes, checkLimits: (limits: OwnLimits) => checkRaise(viewer, changes, limits, defaults) }
}

/** The rules that limit a key of this member, or of no member. */
async function readBounds(deps: KeyDeps, { accountId }: Member, userId: string | null): Promise<Bound[]> {
  const ofAccount = await deps.readKeyPolicy(accountId)
  if (!ofAccount) throw refused('unknown_account')
  const ofMember = userId === null ? undefined : await deps.readMemberKeyPolicy({ accountId, userId })
  return [boundOfAccount(ofAccount), ...(ofMember ? [{ ...ofMember, of: 'all keys of its member' }] : [])]
}

/** A key with its usage of the latest days and the budgets that apply to it. */
export async function showKey(context: OneKey) {
  const { deps, viewer, params } = context
  const key = await findOwn(context, params.id)
  const of = { accountId: viewer.accountId, keyId: params.id }
  const nowMs = Date.now()
  const [days, now] = await Promise.all([
    deps.readKeyUsage(of, USAGE_DAYS, nowMs),
    // Current figures of the ledger; while it is unreachable, those in Postgres.
    deps.ledger.readKey(of).catch(() => undefined),
  ])
  const sum = (field: 'spent' | 'requests' | 'errors' | 'inputTokens' | 'outputTokens') =>
    days.reduce((total, day) => total + day[field], 0)
  return {
    item: keyBody(key, nowMs, now?.spentThisMonth),
    openRequests: now?.open ?? 0,
    budgets: await keyBudgets(deps.ledger, viewer, now, nowMs),
    heldUsd: formatUsd(now?.held ?? ZERO_NANO),
    days: days.map(({ spent, ...day }) => ({ ...day, spentUsd: formatUsd(spent) })),
    total: {
      ...{ requests: sum('requests'), errors: sum('errors'), spentUsd: formatUsd(nano(sum('spent'))) },
      ...{ inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') },
    },
  }
}

/** Gives a key a new text, which only this response contains. */
export async function rotateKey(context: OneKey, body: Static<typeof RotationBody>) {
  const { deps, viewer, by, params } = context
  const overlapMs = readOverlap(body)
  await findOwn(context, params.id)
  const outcome = await deps.apiKeys.rotate(params.id, overlapMs, viewer.accountId, by)
  if (outcome.kind !== 'rotated') throw refused(outcome.kind)
  return { key: outcome.key, item: await shownKey(context, params.id) }
}

type ChangeState = (apiKeys: ApiKeys, keyId: string, accountId: string, by: ChangedBy) => Promise<ChangeKeyOutcome>

/** Changes a key's state, if `check` doesn't throw. */
export async function changeState(
  context: OneKey,
  change: ChangeState,
  check?: (viewer: Member, key: KeyListing) => void,
): Promise<void> {
  const { deps, viewer, by, params } = context
  const key = await findOwn(context, params.id)
  check?.(viewer, key)
  expectUpdated(await change(deps.apiKeys, params.id, viewer.accountId, by))
}

/** A key of the account, if the member sees it. */
async function findOwn({ deps, viewer }: KeyContext, keyId: string): Promise<KeyListing> {
  const key = await deps.apiKeys.find(viewer.accountId, keyId)
  if (!key || !maySee(viewer, key)) throw refused('unknown_key')
  return key
}

/** A key as a response body, if the member sees it. */
export async function shownKey(context: KeyContext, keyId: string): Promise<KeyBody> {
  return keyBody(await findOwn(context, keyId), Date.now())
}

function expectUpdated({ kind }: ChangeKeyOutcome): void {
  if (kind !== 'updated') throw refused(kind)
}

/** The rules for all keys of the account. */
export async function showPolicy({ deps, viewer }: KeyContext) {
  const policy = await deps.readKeyPolicy(viewer.accountId)
  if (!policy) throw refused('unknown_account')
  return { ...copyRules(policy), maxKeyAgeDays: policy.maxKeyAgeDays }
}

/** Changes the given rules for all keys. */
export async function choosePolicy(context: KeyContext, asked: Partial<KeyPolicy>) {
  const { deps, viewer, by, request } = context
  const policy = readAllowedLists(asked, deps.catalog.current, await showPolicy(context))
  await deps.changeKeyPolicy(viewer.accountId, policy, by, (before) => expectVersion(request, before))
  return await showPolicy(context)
}

/** The networks that all keys of the account may be used from. */
export async function showAddresses({ deps, viewer, request }: KeyContext) {
  const list = await deps.readAddresses(viewer.accountId)
  if (list === undefined) throw refused('unknown_account')
  return { allowedAddresses: list && [...list], ownAddress: clientAddress(request, deps.trustedProxyHops) }
}

/** Changes the account's allowed networks, unless that locks out the editor. */
export async function chooseAddresses(context: KeyContext, asked: { allowedAddresses: readonly string[] | null }) {
  const { deps, viewer, by, request } = context
  const addresses = readAddresses(asked.allowedAddresses)
  if (addresses) checkOwnAddress(addresses, request, deps.trustedProxyHops)
  await deps.changeAddresses(viewer.accountId, addresses, by, (allowedAddresses) =>
    expectVersion(request, { allowedAddresses }),
  )
  return await showAddresses(context)
}
