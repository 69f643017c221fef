/** Plays random sequences of everything that moves money, and compares every answer and every balance with the model. */
import { expect } from 'bun:test'
import { withinDay } from '@test/ledger/accounts/within-day'
import { fc } from '@test/support/property'
import { moneyOf, openOf, spentThisMonth } from './model'
import { type Operation, operation } from './operations'
import { perform } from './perform'
import { compareBudgets } from './perform-budgets'
import { accountOf, openWorld, type Play, type World } from './world'

const MAX_OPERATIONS = 80
/** Bounds the shrinking of a failure; a database's sequences without one end long before. */
const PATIENCE_MS = 1_200_000
/** Sequences for which a database serves: each check looks at all that is in it. */
const PER_DATABASE = 50

/**
 * Plays this many sequences on a Redis of their own. A failure prints its seed and the shortest sequence that fails. Returns how
 * often what has happened: a model that is never asked proves nothing. `endOnFailure`: the first that fails, however long it is.
 */
export async function playSequences(
  redisUrl: string,
  count: number,
  seed: number,
  options: { endOnFailure?: boolean } = {},
): Promise<Map<string, number>> {
  const story = fc.array(operation, { minLength: 1, maxLength: MAX_OPERATIONS, size: 'max' })
  const seen = new Map<string, number>()
  for (let done = 0; done < count; done += PER_DATABASE) {
    const world = await openWorld(redisUrl)
    try {
      const property = fc.asyncProperty(story, async (operations) => {
        for (const what of await withinDay(() => playOne(world, operations))) seen.set(what, (seen.get(what) ?? 0) + 1)
      })
      await fc.assert(property, {
        numRuns: Math.min(PER_DATABASE, count - done),
        seed: seed + done,
        interruptAfterTimeLimit: PATIENCE_MS,
        markInterruptAsFailure: true,
        ...options,
      })
    } finally {
      await world.close()
    }
  }
  return seen
}

/** Plays one sequence on a Redis of its own. Returns what has happened. */
export async function playStory(redisUrl: string, operations: readonly Operation[]): Promise<string[]> {
  const world = await openWorld(redisUrl)
  try {
    return await withinDay(() => playOne(world, operations))
  } finally {
    await world.close()
  }
}

async function playOne(world: World, operations: readonly Operation[]): Promise<string[]> {
  const play = await world.begin()
  for (const one of operations) {
    await perform(world, play, one)
    await compare(world, play)
  }
  // What is on its way arrives, what is due ends, and nothing is left for the next sequence.
  await perform(world, play, { kind: 'expire', client: 0 })
  await world.flush(play, false)
  await compare(world, play)
  expect(await world.violations(play)).toEqual([])
  return play.seen
}

/** All reads of both accounts at once: one after another, a sequence waited for them most of its time. */
async function compare({ fixture: { ledger } }: World, { accounts, payers }: Play): Promise<void> {
  const ofAccounts = [...accounts].map(async ([accountId, account]) => {
    const [balance] = await Promise.all([ledger.readBalance(accountId), compareBudgets(ledger, accountId, account)])
    const { available, held, spent } = moneyOf(account)
    const status = account.isSuspended ? 'suspended' : 'active'
    const month = spentThisMonth(account)
    expect({ ...balance }).toMatchObject({ available, held, spent, spentThisMonth: month, status })
  })
  const ofKeys = payers.map(async (payer) => {
    const account = accountOf({ accounts }, payer.accountId)
    const month = spentThisMonth(account, payer.keyId)
    const key = { ...(await ledger.readKey(payer)) }
    expect(key).toMatchObject({ ...openOf(account, payer.keyId), spentThisMonth: month })
  })
  await Promise.all([...ofAccounts, ...ofKeys])
}
