/** The routes by which an account's API keys are switched off and on, rotated and deleted. */
import { Type } from '@sinclair/typebox'
import type { ApiKeys } from '@/accounts/api-keys'
import { mayDo } from '@/accounts/members/permissions'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, guarded, notPermitted } from '@/console/http/guard'
import { checkTransfer } from '@/console/http/key-authority'
import { KeyBody, keyBody, RotationBody, readOverlap } from '@/console/http/key-bodies'
import { exactly, NoFields } from '@/console/http/wire'
import { CreatedKey, expectUpdated, findOwn, KeyParams, type KeyRouteDeps, unchanged } from './calls'

/** Mounts what changes the state of a key below `/dashboard/api/a/:accountId/keys/:id`. */
export function keyLifeRoutes(deps: KeyRouteDeps) {
  const { apiKeys } = deps
  return guarded(deps, 'key-life-routes', `${ACCOUNT_PREFIX}/keys`)
    .post('/:id/deactivate', (caller) => setStatus(deps, caller, caller.params.id, apiKeys.deactivate), {
      may: 'keys.switchOff',
      params: KeyParams,
      body: NoFields,
      response: KeyBody,
      detail: {
        summary: 'Deactivate an API key',
        description:
          'Its next request is refused (401), on every gateway. A member whose role allows no keys switches off their own, if one was kept.',
      },
    })
    .post('/:id/activate', (caller) => setStatus(deps, caller, caller.params.id, apiKeys.activate), {
      may: 'keys.use',
      params: KeyParams,
      body: NoFields,
      response: KeyBody,
      detail: {
        summary: 'Activate an API key',
        description:
          'Takes requests of a deactivated key again. 409 `key_without_owner` where its owner is a member no longer.',
      },
    })
    .post('/:id/transfer', (caller) => transfer(deps, caller, caller.params.id, caller.body.userId), {
      may: 'members.change',
      params: KeyParams,
      body: exactly({ userId: Type.String({ minLength: 1, maxLength: 100 }) }),
      response: KeyBody,
      detail: {
        summary: 'Transfer an API key to another member',
        description:
          'Its text, limits and history stay, and a deactivated one stays so. 409 `key_without_owner` for somebody who is no member, or whose role allows no keys.',
      },
    })
    .post('/:id/rotate', (caller) => rotate(deps, caller, caller.params.id, caller.body), {
      may: 'keys.use',
      params: KeyParams,
      body: RotationBody,
      response: CreatedKey,
      detail: {
        summary: 'Rotate an API key',
        description:
          'Gives the key another text, which the answer holds, once. Its id, limits, budget and history stay. The text before works for ' +
          '`overlap` more, on every gateway, and any before that ends at once.',
      },
    })
    .delete('/:id', (caller) => remove(deps, caller, caller.params.id), {
      may: 'keys.use',
      params: KeyParams,
      response: Type.Object({ deleted: Type.Literal(true) }),
      detail: {
        summary: 'Delete an API key',
        description: 'For ever, on every gateway at once. Its usage stays. The built-in key cannot be deleted (409).',
      },
    })
}

async function setStatus(deps: KeyRouteDeps, { viewer, by }: Caller, keyId: string, set: ApiKeys['activate']) {
  const { createdBy } = await findOwn(deps.apiKeys, viewer, keyId)
  if (!mayDo(viewer.accountRole, 'keys.use') && createdBy !== viewer.userId) throw notPermitted()
  expectUpdated(await set(keyId, viewer.accountId, by))
  return keyBody(await findOwn(deps.apiKeys, viewer, keyId), Date.now())
}

async function transfer(deps: KeyRouteDeps, { viewer, by }: Caller, keyId: string, userId: string) {
  checkTransfer(viewer, await findOwn(deps.apiKeys, viewer, keyId))
  expectUpdated(await deps.apiKeys.transfer(keyId, viewer.accountId, userId, by))
  return keyBody(await findOwn(deps.apiKeys, viewer, keyId), Date.now())
}

async function rotate(deps: KeyRouteDeps, { viewer, by }: Caller, keyId: string, body: typeof RotationBody.static) {
  const overlapMs = readOverlap(body)
  await findOwn(deps.apiKeys, viewer, keyId)
  const outcome = await deps.apiKeys.rotate(keyId, overlapMs, viewer.accountId, by)
  if (outcome.kind !== 'rotated') throw unchanged(outcome)
  return { key: outcome.key, item: keyBody(await findOwn(deps.apiKeys, viewer, keyId), Date.now()) }
}

async function remove(deps: KeyRouteDeps, { viewer, by }: Caller, keyId: string) {
  await findOwn(deps.apiKeys, viewer, keyId)
  expectUpdated(await deps.apiKeys.delete(keyId, viewer.accountId, by))
  return { deleted: true as const }
}
