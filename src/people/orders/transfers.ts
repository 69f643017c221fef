/** The operations that move credit between two accounts of the same owner. */
import { type Static, Type } from '@sinclair/typebox'
import type { OwnAccount } from '@/accounts/members/memberships'
import { mayDo } from '@/accounts/members/permissions'
import { MAX_TRANSFER, MAX_TRANSFER_KEY_CHARS, MAX_TRANSFERS_PER_DAY, MIN_TRANSFER } from '@/accounts/transfers/limits'
import { type MovableCredit, movableWords } from '@/accounts/transfers/movable'
import type { NewTransfer, TransferOutcome, TransferRefusal } from '@/accounts/transfers/move-credit'
import { GatewayError, invalidRequest } from '@/chat/error'
import { notPermitted } from '@/console/http/guard'
import { DecimalUsd, exactly } from '@/console/http/wire'
import { assertNever } from '@/lib/assert'
import { formatUsd, type Nano, parseUsd } from '@/lib/money'
import type { OperationCaller } from '@/people/operation'

export type TransferDeps = {
  moveCredit(transfer: NewTransfer): Promise<TransferOutcome>
  readMovable(accountId: string): Promise<MovableCredit>
  accountsOf(userId: string): Promise<OwnAccount[]>
}
type TransferCall = OperationCaller & { deps: TransferDeps }

export const TransferOptions = Type.Object({
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

export const NewTransferBody = exactly({
  toAccountId: Type.String({ pattern: '^[\\w-]{1,100}$' }),
  amountUsd: Type.String({ maxLength: 30, description: 'Decimal USD' }),
  key: Type.String({
    pattern: `^[\\w-]{1,${MAX_TRANSFER_KEY_CHARS}}$`,
    description: 'Idempotency key, new for each transfer: a repetition moves nothing',
  }),
})

export const TransferBody = Type.Object({
  transferId: Type.String({ description: 'The reference in the statements of both accounts' }),
  isNew: Type.Boolean({ description: 'False if this transfer was made before' }),
})

/** The accounts to which credit can be moved, and the maximum amount. */
export async function readTransferOptions({ deps, viewer: { userId, accountId } }: TransferCall) {
  const own = (await deps.accountsOf(userId)).filter(
    ({ role, ...one }) => mayDo(role, 'credit.move') && one.accountId !== accountId,
  )
  const { movable, later } = await deps.readMovable(accountId)
  return {
    movableUsd: formatUsd(movable),
    later: later.map(({ amount, from }) => ({ amountUsd: formatUsd(amount), from: from.toISOString() })),
    minimumUsd: formatUsd(MIN_TRANSFER),
    maximumUsd: formatUsd(MAX_TRANSFER),
    maxPerDay: MAX_TRANSFERS_PER_DAY,
    accounts: own.map((account) => ({ accountId: account.accountId, name: account.name })),
  }
}

/** Moves credit to another account of its owner. */
export async function moveCredit(
  { deps, viewer, by }: TransferCall,
  { toAccountId, amountUsd, key }: Static<typeof NewTransferBody>,
) {
  const transfer = { fromAccountId: viewer.accountId, toAccountId, amount: readAmount(amountUsd), key, by }
  const outcome = await deps.moveCredit(transfer)
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
