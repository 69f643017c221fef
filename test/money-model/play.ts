/** Plays random sequences of everything that moves money, and compares every answer and every balance with the model. */
import { expect } from 'bun:test'
import { fc } from '@test/support/property'
import { moneyOf } from './model'
import { type Operation, operation } from './operations'
import { perform } from './perform'
import { openWorld, type Play, type World } from './world'

const MAX_OPERATIONS = 40
/** Sequences for which a database serves: each check looks at all that is in it. */
const PER_DATABASE = 50

/** Plays this many sequences on a Redis of their own. A failure prints its seed and the shortest sequence that fails. */
export async function playSequences(redisUrl: string, count: number, seed: number): Promise<void> {
  const story = fc.array(operation, { minLength: 1, maxLength: MAX_OPERATIONS, size: 'max' })
  for (let done = 0; done < count; done += PER_DATABASE) {
    const world = await openWorld(redisUrl)
    try {
      const property = fc.asyncProperty(story, (operations) => playOne(world, operations))
      await fc.assert(property, {
        numRuns: Math.min(PER_DATABASE, count - done),
        seed: seed + done,
        endOnFailure: false,
      })
    } finally {
      await world.close()
    }
  }
}

async function playOne(world: World, operations: readonly Operation[]): Promise<void> {
  const play = await world.begin()
  for (const one of operations) {
    await perform(world, play, one)
    await compare(world, play)
  }
  expect(await world.violations()).toEqual([])
  // What is on its way arrives, and nothing is left for the next sequence.
  await world.flush(false)
  await compare(world, play)
  expect(await world.violations()).toEqual([])
}

async function compare({ fixture }: World, { accounts }: Play): Promise<void> {
  for (const [accountId, account] of accounts) {
    const balance = await fixture.ledger.readBalance(accountId)
    const { available, held, spent } = moneyOf(account)
    const status = account.isSuspended ? 'suspended' : 'active'
    expect({ ...balance }).toMatchObject({ available, held, spent, status })
  }
}
