/** Routes by which an owner of two accounts moves credit between them. */
import { Type } from '@sinclair/typebox'
import type { OwnAccount } from '@/accounts/members/memberships'
import { mayDo } from '@/accounts/members/permissions'
import { MAX_TRANSFER, MAX_TRANSFER_KEY_CHARS, MAX_TRANSFERS_PER_DAY, MIN_TRANSFER } from '@/accounts/transfers/limits'
import { type MovableCredit, movableWords } from '@/accounts/transfers/movable'
import type { NewTransfer, TransferOutcome, TransferRefusal } from '@/accounts/transfers/move-credit'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, notPermitted } from '@/console/http/guard'
import { DecimalUsd, exactly } from '@/console/http/wire'
import { assertNever } from '@/lib/assert'
import { formatUsd, type Nano, parseUsd } from '@/lib/money'

export type TransferRouteDeps = GuardDeps & {
  moveCredit(transfer: NewTransfer): Promise<TransferOutcome>
  readMovable(accountId: string): Promise<MovableCredit>
  accountsOf(userId: string): Promise<OwnAccount[]>
}

const Options = Type.Object({
  minimumUsd: DecimalUsd,
  maximumUsd: DecimalUsd,
  maxPerDay: Type.Integer({ description: 'Transfers out of an account in 24 hours' }),
  movableUsd: Type.String({ description: 'Decimal USD that can be moved out of the account now' }),
  later: Type.Array(Type.Object({ amountUsd: DecimalUsd, from: Type.String({ format: 'date-time' }) }), {
    description: 'What else is available, and from when on it can be moved: until then its payer can take it back',
  }),
  accounts: Type.Array(Type.Object({ accountId: Type.String(), name: Type.String() }), {
    description: 'The person’s other accounts as owner',
  }),
})

const NewTransferBody = exactly({
  toAccountId: Type.String({ pattern: '^[\\w-]{1,100}$' }),
  amountUsd: Type.String({ maxLength: 30, description: 'Decimal USD' }),
  key: Type.String({
    pattern: `^[\\w-]{1,${MAX_TRANSFER_KEY_CHARS}}$`,
    description: 'Idempotency key, new for each transfer: a repetition moves nothing',
  }),
})

const TransferBody = Type.Object({
  transferId: Type.String({ description: 'The reference in the statements of both accounts' }),
  isNew: Type.Boolean({ description: 'False if this transfer was made before' }),
})

export function transferRoutes(deps: TransferRouteDeps) {
  return guarded(deps, 'transfer-routes', `${ACCOUNT_PREFIX}/transfers`)
    .get('/options', ({ viewer }) => options(deps, viewer), {
      may: 'credit.move',
      response: Options,
      detail: { summary: 'Where credit can be moved to', description: 'And how much of it, now and later.' },
    })
    .post('', (caller) => move(deps, caller, caller.body), {
      may: { permission: 'credit.move', isProved: true },
      body: NewTransferBody,
      response: TransferBody,
      detail: {
        summary: 'Move credit to another account',
        description:
          'By an owner of both, once for each `key`. Never more than is available, and nothing that its payer can still take back. It is in the statements and audit logs of both.',
      },
    })
}

async function options({ accountsOf, readMovable }: TransferRouteDeps, { userId, accountId }: Member) {
  const own = (await accountsOf(userId)).filter(
    ({ role, ...one }) => mayDo(role, 'credit.move') && one.accountId !== accountId,
  )
  const { movable, later } = await readMovable(accountId)
  return {
    movableUsd: formatUsd(movable),
    later: later.map(({ amount, from }) => ({ amountUsd: formatUsd(amount), from: from.toISOString() })),
    minimumUsd: formatUsd(MIN_TRANSFER),
    maximumUsd: formatUsd(MAX_TRANSFER),
    maxPerDay: MAX_TRANSFERS_PER_DAY,
    accounts: own.map((account) => ({ accountId: account.accountId, name: account.name })),
  }
}

async function move(
  deps: TransferRouteDeps,
  { viewer, by }: Caller,
  { toAccountId, amountUsd, key }: typeof NewTransferBody.static,
) {
  const outcome = await deps.moveCredit({
    ...{ fromAccountId: viewer.accountId, toAccountId, amount: readAmount(amountUsd), key },
    by,
  })
  if (outcome.kind !== 'moved' && outcome.kind !== 'exists') throw refusalOf(outcome, toAccountId)
  return { transferId: outcome.transferId, isNew: outcome.kind === 'moved' }
}

function readAmount(text: string): Nano {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= MIN_TRANSFER && amount <= MAX_TRANSFER) return amount
  throw invalidRequest(
    `The amount must be from ${formatUsd(MIN_TRANSFER)} to ${formatUsd(MAX_TRANSFER)} USD.`,
    'amountUsd',
  )
}

function refusalOf(refusal: TransferRefusal, toAccountId: string): GatewayError {
  switch (refusal.kind) {
    case 'unknown_account':
      return new GatewayError('not_found', 'There is no such account.', paramOf(refusal.accountId, toAccountId))
    case 'not_owner':
      return notPermitted(
        'Credit is moved by an owner of both accounts.',
        paramOf(refusal.accountId, toAccountId).param,
      )
    case 'same_account':
      return invalidRequest('Choose another account.', 'toAccountId')
    case 'suspended':
      return conflict('account_suspended', 'The account is suspended: nothing is moved out of it.')
    case 'insufficient':
      return conflict(
        'insufficient_credit',
        `Only ${formatUsd(refusal.available)} USD is available; what running requests hold is not moved.`,
        'amountUsd',
      )
    case 'reversible':
      return conflict('reversible_credit', movableWords(refusal), 'amountUsd')
    case 'key_taken':
      return conflict(
        'transfer_key_taken',
        'This form was sent before with other values. Look at the account statement.',
      )
    case 'out_of_range':
      return conflict('balance_limit', 'The balance would exceed the maximum of an account.', 'amountUsd')
    case 'too_many':
      return new GatewayError('rate_limited', `At most ${refusal.limit} transfers leave an account in 24 hours.`, {
        code: 'too_many_transfers',
      })
    default:
      return assertNever(refusal)
  }
}

function paramOf(accountId: string, toAccountId: string): { param?: string } {
  return accountId === toAccountId ? { param: 'toAccountId' } : {}
}

function conflict(code: string, message: string, param?: string): GatewayError {
  return new GatewayError('conflict', message, { code, ...(param !== undefined && { param }) })
}
