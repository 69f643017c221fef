/** Routes of an account's stored answers: their size, lifetime and deletion. */
import { Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import { MAX_STORED_HOURS } from '@/accounts/stored-hours'
import type { StoredResponses } from '@/stored-responses/stored-responses'
import type { Caller } from './changed-by'
import { ACCOUNT_PREFIX, type GuardDeps, guarded } from './guard'
import { exactly } from './wire'

export type StoredResponseDeps = GuardDeps & {
  storedResponses: Pick<StoredResponses, 'standing'>
  /** Sets the time for which the account's answers are stored; null: the operator's maximum. */
  keepResponsesFor(accountId: string, hours: number | null, by: ChangedBy): Promise<void>
}

const Standing = Type.Object({
  hours: Type.Integer({ description: 'Hours for which answers are stored; 0: not at all' }),
  maxHours: Type.Integer({ description: 'The longest that the service keeps any; 0 = none is' }),
  kept: Type.Integer({ description: 'Number of stored answers' }),
  bytes: Type.Integer({ description: 'What they take' }),
})

const Choice = exactly({
  hours: Type.Integer({ minimum: 0, maximum: MAX_STORED_HOURS, description: '0 deletes all stored answers' }),
})

export function storedResponseViewRoutes(deps: StoredResponseDeps) {
  const { storedResponses } = deps
  return guarded(deps, 'stored-response-view-routes', `${ACCOUNT_PREFIX}/stored-responses`)
    .get('', ({ viewer }) => storedResponses.standing(viewer.accountId), {
      may: 'account.change',
      response: Standing,
      detail: {
        summary: 'What the account has stored of its responses',
        description: 'Answers of `POST /v1/responses`, unless requested with `store: false`.',
      },
    })
    .put('', (caller) => choose(deps, caller, caller.body.hours), {
      may: 'account.change',
      body: Choice,
      response: Standing,
      detail: {
        summary: 'Choose how long responses are stored',
        description:
          '0 stores nothing from now on and deletes what there is. A shorter time holds for what there is, too. Heeded by every ' +
          'gateway within a quarter of a minute.',
      },
    })
}

async function choose(deps: StoredResponseDeps, { viewer: { accountId }, by }: Caller, hours: number) {
  const { maxHours } = await deps.storedResponses.standing(accountId)
  const kept = hours > 0 && hours >= maxHours ? null : hours
  await deps.keepResponsesFor(accountId, kept, by)
  return await deps.storedResponses.standing(accountId)
}
