/** Routes of an account's management keys: create (by owners and admins with a recent proof of identity), list, revoke. */
import { type Static, Type } from '@sinclair/typebox'
import {
  MAX_MANAGEMENT_KEYS,
  type ManagementKeyListing,
  type ManagementKeys,
} from '@/accounts/management/management-keys'
import { SCOPES } from '@/accounts/management/scopes'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT, notPermitted } from '@/console/http/guard'
import { exactly, isoMoments, NullableText } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { oneOf } from '@/lib/schemas'
import { NewKeyBody, readMoment } from '@/people/keys/bodies'

export type ManagementKeyRouteDeps = GuardDeps & { managementKeys: ManagementKeys }

export const Scopes = Type.Array(oneOf(SCOPES), {
  uniqueItems: true,
  description: 'What it may; `…:write` includes reading',
})

const ManagementKeyBody = titled('ManagementKey', {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key' }),
  lastFour: Type.String(),
  scopes: Scopes,
  createdBy: Type.Object({ userId: Type.String(), name: Type.String(), isMember: Type.Boolean() }),
  isExpired: Type.Boolean(),
  createdAt: Type.String({ description: 'ISO 8601' }),
  expiresAt: NullableText,
  lastUsedAt: NullableText,
})
export type ManagementKeyBody = Static<typeof ManagementKeyBody>

const KeyList = Type.Object({
  items: Type.Array(ManagementKeyBody, { description: 'Newest first' }),
  nextCursor: Type.Null({ description: 'All are on one page' }),
  maxKeys: Type.Integer(),
})

const { name, expiresAt } = NewKeyBody.properties
const NewKey = exactly({ name, scopes: Scopes, expiresAt })

const Created = Type.Object({
  key: Type.String({ description: 'The whole key, shown only here' }),
  item: ManagementKeyBody,
})
const KeyParams = Type.Object({ ...IN_ACCOUNT, id: Type.String({ pattern: '^\\w{1,64}$', maxLength: 64 }) })

/** Mounts `/dashboard/api/a/:accountId/management-keys`. */
export function managementKeyRoutes(deps: ManagementKeyRouteDeps) {
  return guarded(deps, 'management-key-routes', `${ACCOUNT_PREFIX}/management-keys`)
    .get('', ({ viewer }) => list(deps, viewer), {
      may: 'managementKeys.change',
      response: KeyList,
      detail: { summary: 'List management keys', description: 'Those that are not revoked. They call no models.' },
    })
    .post('', (caller) => create(deps, caller, caller.body), {
      may: { permission: 'managementKeys.change', isProved: true },
      body: NewKey,
      response: Created,
      detail: {
        summary: 'Create a management key',
        description: `For the management API. The answer holds the whole key, once. Needs a fresh proof of who one is (403 \`step_up_required\`). At most ${MAX_MANAGEMENT_KEYS} (409).`,
      },
    })
    .delete('/:id', (caller) => revoke(deps, caller, caller.params.id), {
      may: 'managementKeys.change',
      params: KeyParams,
      response: Type.Object({ revoked: Type.Literal(true) }),
      detail: { summary: 'Revoke a management key', description: 'For ever: its next request is refused (401).' },
    })
}

async function list({ managementKeys }: ManagementKeyRouteDeps, { accountId }: Member) {
  const keys = await managementKeys.list(accountId)
  return { items: keys.map(keyBody), nextCursor: null, maxKeys: MAX_MANAGEMENT_KEYS }
}

async function create(deps: ManagementKeyRouteDeps, { viewer, by }: Caller, body: Static<typeof NewKey>) {
  const { managementKeys } = deps
  const { accountId, userId: createdBy } = viewer
  const expiresAtMs = body.expiresAt == null ? null : readMoment(body.expiresAt, Date.now())
  const key = { accountId, name: body.name.trim(), scopes: body.scopes, expiresAtMs, createdBy }
  const outcome = await managementKeys.create(key, by)
  switch (outcome.kind) {
    case 'unknown_account':
      throw new GatewayError('not_found', 'There is no such account.')
    case 'not_permitted':
      throw notPermitted()
    case 'too_many_keys':
      throw new GatewayError('conflict', `An account has at most ${outcome.limit} management keys. Revoke one.`, {
        code: 'too_many_keys',
      })
    case 'created': {
      const made = (await managementKeys.list(accountId)).find(({ keyId }) => keyId === outcome.keyId)
      if (!made) throw noSuchKey()
      return { key: outcome.key, item: keyBody(made) }
    }
  }
}

async function revoke(deps: ManagementKeyRouteDeps, { viewer, by }: Caller, keyId: string) {
  const outcome = await deps.managementKeys.revoke(keyId, viewer.accountId, by)
  if (outcome === 'unknown_key') throw noSuchKey()
  return { revoked: true as const }
}

function noSuchKey(): GatewayError {
  return new GatewayError('not_found', 'There is no such management key.', { code: 'key_not_found' })
}

function keyBody({ keyId: id, ...key }: ManagementKeyListing): ManagementKeyBody {
  return { id, ...isoMoments(key), isExpired: key.expiresAt !== null && key.expiresAt.getTime() <= Date.now() }
}
