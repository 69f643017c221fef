/** The operations on an account's stored answers: their size, lifetime and deletion. */
import { Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import { MAX_STORED_HOURS } from '@/accounts/stored-hours'
import type { GuardDeps } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { operationsOver } from '@/people/operation'
import type { StoredResponses } from '@/stored-responses/stored-responses'

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

const operation = operationsOver<StoredResponseDeps>()

const show = operation('account.stored_hours.show', 'GET /stored-responses', 'account.change', undefined, {
  summary: 'What the account has stored of its responses',
  description: 'Answers of `POST /v1/responses`, unless requested with `store: false`.',
  gives: Standing,
  run: ({ deps, viewer }) => deps.storedResponses.standing(viewer.accountId),
})

const choose = operation('account.stored_hours', 'PUT /stored-responses', 'account.change', undefined, {
  summary: 'Choose how long responses are stored',
  description:
    '0 stores nothing from now on and deletes what there is. A shorter time holds for what there is, too. Heeded by every ' +
    'gateway within a quarter of a minute.',
  takes: Choice,
  gives: Standing,
  async run({ deps: { storedResponses, keepResponsesFor }, viewer: { accountId }, by }, { hours }) {
    const { maxHours } = await storedResponses.standing(accountId)
    await keepResponsesFor(accountId, hours > 0 && hours >= maxHours ? null : hours, by)
    return await storedResponses.standing(accountId)
  },
})

export const STORED_RESPONSE_OPERATIONS = [show, choose] as const
