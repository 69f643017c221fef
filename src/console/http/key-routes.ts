/** The routes of an account's API keys; developers have their own alone. */
import { Type } from '@sinclair/typebox'
import { ceilingsOf } from '@/accounts/account-limits'
import { type KeyChanges, MAX_KEYS_PER_ACCOUNT } from '@/accounts/api-keys'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { type Bound, boundOfAccount } from '@/console/http/keys/allowed-lists'
import {
  CreatedKey,
  expectUpdated,
  findOwn,
  KeyParams,
  type KeyRouteDeps,
  noSuchAccount,
  unchanged,
} from '@/console/http/keys/calls'
import { KeyBudgets, keyBudgets } from '@/console/http/keys/key-budgets'
import { checkOwnAddress } from '@/console/http/keys/key-lists'
import type { PageRequest } from '@/db/paging'
import type { DefaultLimits, KeyLimits } from '@/ledger/outcomes'
import { formatUsd, nano, ZERO_NANO } from '@/lib/money'
import type { Caller } from './changed-by'
import { ACCOUNT_PREFIX, guarded } from './guard'
import { checkFields, checkRaise, checkService, limitsOfNone, maySee } from './key-authority'
import { KeyBody, KeyChangesBody, keyBody, MAX_KEY_BODY_BYTES, NewKeyBody, readKeyChanges } from './key-bodies'
import { NextCursor, newestFirst, PageQuery, pageOf } from './pages'
import { mapPage, DecimalUsd as Usd } from './wire'

const COUNTS = { requestsPerMinute: Type.Integer(), tokensPerMinute: Type.Integer(), concurrency: Type.Integer() }

const KeyList = Type.Object({
  items: Type.Array(KeyBody, { description: 'Newest first' }),
  nextCursor: NextCursor,
  maxKeys: Type.Integer({ description: 'How many keys an account may have, without the built-in one' }),
  defaults: Type.Object(COUNTS, { description: 'What holds for a key without limits of its own' }),
  ceilings: Type.Object(COUNTS, {
    description: "The account's limits: what all its keys may do together, and the most that one key may be given",
  }),
})

const sums = { spentUsd: Usd, requests: Type.Integer(), errors: Type.Integer() }
const tokens = { inputTokens: Type.Integer(), outputTokens: Type.Integer() }

const KeyDetail = Type.Object({
  item: KeyBody,
  openRequests: Type.Integer({ description: 'Requests that are being answered right now' }),
  heldUsd: Usd,
  days: Type.Array(Type.Object({ day: Type.String({ description: 'yyyy-mm-dd, UTC' }), ...sums, ...tokens }), {
    description: 'The latest 30 days, oldest first, days without requests included',
  }),
  total: Type.Object({ ...sums, ...tokens }, { description: 'Of these days' }),
  budgets: KeyBudgets,
})

const USAGE_DAYS = 30

const CHANGE = {
  summary: 'Rename an API key or change its limits',
  description:
    'What is left out stays as it is. Limits hold for the next request, on every gateway. Developers lower limits (403 otherwise); who ' +
    'looks after bills changes budgets alone.',
}

/** Mounts `/dashboard/api/a/:accountId/keys`. */
export function keyRoutes(deps: KeyRouteDeps) {
  return guarded(deps, 'key-routes', `${ACCOUNT_PREFIX}/keys`)
    .get('', ({ viewer, query }) => list(deps, viewer, query), {
      may: 'usage.read',
      query: PageQuery,
      response: KeyList,
      detail: {
        summary: 'List API keys',
        description:
          "The account's keys without deleted ones; developers see their own. A key's text is never shown again.",
      },
    })
    .post('', (caller) => create(deps, caller, caller.body), {
      may: { permission: 'keys.use', maxBodyBytes: MAX_KEY_BODY_BYTES },
      body: NewKeyBody,
      response: CreatedKey,
      detail: {
        summary: 'Create an API key',
        description: `The answer holds the whole key, once. An account has at most ${MAX_KEYS_PER_ACCOUNT} keys (409).`,
      },
    })
    .get('/:id', ({ viewer, params }) => detail(deps, viewer, params.id), {
      may: 'usage.read',
      params: KeyParams,
      response: KeyDetail,
      detail: {
        summary: 'Get an API key and its usage',
        description: 'With the latest 30 days, by day (UTC), and the budgets that bind it.',
      },
    })
    .patch('/:id', (caller) => change(deps, caller, caller.params.id, caller.body), {
      may: { permission: 'keys.change', maxBodyBytes: MAX_KEY_BODY_BYTES },
      params: KeyParams,
      body: KeyChangesBody,
      response: KeyBody,
      detail: CHANGE,
    })
}

async function list(deps: KeyRouteDeps, viewer: Member, query: PageRequest) {
  const { apiKeys, catalog } = deps
  const [keys, ceilings] = await Promise.all([apiKeys.list(viewer.accountId), readCeilings(deps, viewer)])
  const nowMs = Date.now()
  const seen = keys.filter((key) => maySee(viewer, key))
  const page = pageOf(seen, query, ({ createdAt, keyId }) => newestFirst(createdAt, keyId))
  return {
    ...mapPage(page, (key) => keyBody(key, nowMs)),
    maxKeys: MAX_KEYS_PER_ACCOUNT,
    defaults: defaultsBelow(catalog.current.limits, ceilings),
    ceilings,
  }
}

/** What holds for a key without limits of its own. */
function defaultsBelow(limits: DefaultLimits, ceilings: DefaultLimits): DefaultLimits {
  return {
    requestsPerMinute: Math.min(limits.requestsPerMinute, ceilings.requestsPerMinute),
    tokensPerMinute: Math.min(limits.tokensPerMinute, ceilings.tokensPerMinute),
    concurrency: Math.min(limits.concurrency, ceilings.concurrency),
  }
}

/** What the viewer's keys may do together. */
async function readCeilings({ accounts, catalog }: KeyRouteDeps, { accountId }: Member): Promise<DefaultLimits> {
  const account = await accounts.find(accountId)
  if (!account) throw noSuchAccount()
  return ceilingsOf(account, catalog.current.limits)
}

async function create(deps: KeyRouteDeps, caller: Caller, body: typeof NewKeyBody.static) {
  const { apiKeys, catalog } = deps
  const { viewer } = caller
  const { accountId, userId, managementKeyId } = viewer
  const nowMs = Date.now()
  const ceilings = await readCeilings(deps, viewer)
  const isService = managementKeyId !== undefined || body.isService === true
  const bounds = await readBounds(deps, viewer, isService ? null : userId)
  const limits = readKeyChanges(body, { catalog: catalog.current, ceilings, bounds, nowMs })
  checkFields(viewer, limits)
  if (isService) checkService(viewer, body)
  checkAddresses(deps, caller, body, limits)
  checkRaise(viewer, limits, limitsOfNone(viewer), defaultsBelow(catalog.current.limits, ceilings))
  const owner = !isService && { createdBy: userId }
  const key = { ...limits, accountId, ...owner, name: body.name.trim() }
  const outcome = await apiKeys.create(key, caller.by)
  switch (outcome.kind) {
    case 'created':
      return { key: outcome.key, item: keyBody(await findOwn(apiKeys, viewer, outcome.keyId), nowMs) }
    case 'too_many_keys':
      throw new GatewayError('conflict', `An account has at most ${outcome.limit} keys. Delete one that is not used.`, {
        code: 'too_many_keys',
      })
    case 'no_owner':
      throw unchanged(outcome)
    case 'unknown_account':
      throw noSuchAccount()
  }
}

async function detail({ apiKeys, ledger, readKeyUsage }: KeyRouteDeps, viewer: Member, keyId: string) {
  const { accountId } = viewer
  const key = await findOwn(apiKeys, viewer, keyId)
  const nowMs = Date.now()
  const [days, now] = await Promise.all([
    readKeyUsage({ accountId, keyId }, USAGE_DAYS, nowMs),
    // What is open and spent up to this moment; while the ledger is away, the history's figures do.
    ledger.readKey({ accountId, keyId }).catch(() => undefined),
  ])
  const sum = (field: 'spent' | 'requests' | 'errors' | 'inputTokens' | 'outputTokens') =>
    days.reduce((total, day) => total + day[field], 0)
  const total = { requests: sum('requests'), errors: sum('errors') }
  return {
    item: keyBody(key, nowMs, now?.spentThisMonth),
    openRequests: now?.open ?? 0,
    budgets: await keyBudgets(ledger, viewer, now, nowMs),
    heldUsd: formatUsd(now?.held ?? ZERO_NANO),
    days: days.map(({ spent, ...day }) => ({ ...day, spentUsd: formatUsd(spent) })),
    total: {
      ...total,
      spentUsd: formatUsd(nano(sum('spent'))),
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
    },
  }
}

async function change(deps: KeyRouteDeps, caller: Caller, keyId: string, body: KeyChangesBody) {
  const { apiKeys, catalog } = deps
  const { viewer } = caller
  const present = await findOwn(apiKeys, viewer, keyId)
  const ceilings = await readCeilings(deps, viewer)
  const bounds = await readBounds(deps, viewer, present.createdBy)
  const changes = readKeyChanges(body, { catalog: catalog.current, ceilings, bounds, nowMs: Date.now(), present })
  const defaults = defaultsBelow(catalog.current.limits, ceilings)
  checkFields(viewer, changes)
  checkAddresses(deps, caller, body, changes)
  const check = (limits: KeyLimits) => checkRaise(viewer, changes, limits, defaults)
  expectUpdated(await apiKeys.change(keyId, changes, viewer.accountId, caller.by, check))
  return keyBody(await findOwn(apiKeys, viewer, keyId), Date.now())
}

/** What a key of this member, or of none, must stay within. */
async function readBounds(deps: KeyRouteDeps, { accountId }: Member, userId: string | null): Promise<Bound[]> {
  const ofAccount = await deps.readKeyPolicy(accountId)
  if (!ofAccount) throw noSuchAccount()
  const ofMember = userId === null ? undefined : await deps.readMemberKeyPolicy({ accountId, userId })
  return [boundOfAccount(ofAccount), ...(ofMember ? [{ ...ofMember, of: 'all keys of its member' }] : [])]
}

function checkAddresses(
  { trustedProxyHops }: KeyRouteDeps,
  { request }: Caller,
  { withoutMyAddress }: KeyChangesBody,
  { allowedAddresses }: KeyChanges,
): void {
  if (allowedAddresses && !withoutMyAddress) checkOwnAddress(allowedAddresses, request, trustedProxyHops)
}
