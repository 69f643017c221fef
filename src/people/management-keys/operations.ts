/** The operations on an account's management keys: list, create (by owners and admins with a recent proof of identity), revoke. */
import { type Static, Type } from '@sinclair/typebox'
import {
  MAX_MANAGEMENT_KEYS,
  type ManagementKeyListing,
  type ManagementKeys,
} from '@/accounts/management/management-keys'
import { SCOPES } from '@/accounts/management/scopes'
import { GatewayError } from '@/chat/error'
import { type GuardDeps, notPermitted } from '@/console/http/guard'
import { exactly, isoMoments, NullableText } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { oneOf } from '@/lib/schemas'
import { NewKeyBody, readMoment } from '@/people/keys/bodies'
import { type OperationCaller, operationsOver } from '@/people/operation'

export type ManagementKeyDeps = GuardDeps & { managementKeys: ManagementKeys }

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
type ManagementKeyBody = Static<typeof ManagementKeyBody>

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
const NAMES = { id: Type.String({ pattern: '^\\w{1,64}$', maxLength: 64 }) }

const operation = operationsOver<ManagementKeyDeps>()

const list = operation('management_key.list', 'GET /management-keys', 'managementKeys.change', undefined, {
  summary: 'List management keys',
  description: 'Those that are not revoked. They call no models.',
  gives: KeyList,
  async run({ deps: { managementKeys }, viewer: { accountId } }) {
    const keys = await managementKeys.list(accountId)
    return { items: keys.map(keyBody), nextCursor: null, maxKeys: MAX_MANAGEMENT_KEYS }
  },
})

const create = operation('management_key.create', 'POST /management-keys', 'managementKeys.change', undefined, {
  isProved: true,
  summary: 'Create a management key',
  description: `For the management API. The answer holds the whole key, once. Needs a fresh proof of who one is (403 \`step_up_required\`). At most ${MAX_MANAGEMENT_KEYS} (409).`,
  takes: NewKey,
  gives: Created,
  run: createKey,
})

const revoke = operation('management_key.revoke', 'DELETE /management-keys/:id', 'managementKeys.change', undefined, {
  summary: 'Revoke a management key',
  description: 'For ever: its next request is refused (401).',
  names: NAMES,
  gives: Type.Object({ revoked: Type.Literal(true) }),
  async run({ deps, viewer, by, params }) {
    const outcome = await deps.managementKeys.revoke(params.id, viewer.accountId, by)
    if (outcome === 'unknown_key') throw noSuchKey()
    return { revoked: true as const }
  },
})

export const MANAGEMENT_KEY_OPERATIONS = [list, create, revoke] as const

type Call = OperationCaller & { deps: ManagementKeyDeps }

async function createKey({ deps: { managementKeys }, viewer, by }: Call, body: Static<typeof NewKey>) {
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

function noSuchKey(): GatewayError {
  return new GatewayError('not_found', 'There is no such management key.', { code: 'key_not_found' })
}

function keyBody({ keyId: id, ...key }: ManagementKeyListing): ManagementKeyBody {
  return { id, ...isoMoments(key), isExpired: key.expiresAt !== null && key.expiresAt.getTime() <= Date.now() }
}
