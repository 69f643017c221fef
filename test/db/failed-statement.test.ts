/** A failed statement in the log: its text and cause, without the values that it was sent with. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { users } from '@/db/auth-schema'
import { connectDatabase, type Database } from '@/db/client'
import { DatabaseTimeoutError } from '@/db/deadline'
import { describeFailure, sumApart } from '@/db/failure'
import { createLogger } from '@/lib/logger'

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 2 })
})
afterAll(() => database.close(0))

async function failure(): Promise<unknown> {
  const row = { id: 'canary-id', name: `canary-name${String.fromCharCode(0)}`, email: 'canary-address@example.test' }
  try {
    await database.db.insert(users).values(row)
  } catch (error) {
    return error
  }
  throw new Error('the statement did not fail')
}

test.each(['info', 'debug'] as const)('no value of a failed statement is logged at level %s', async (level) => {
  const lines: string[] = []
  const logger = createLogger({ level, service: 'test', write: (line) => lines.push(line) })
  const error = await failure()
  logger.error('unexpected_error', { error })
  logger.error('wrapped', { error: new Error('the flow broke', { cause: error }) })
  expect(lines).toHaveLength(2)
  for (const line of lines) {
    expect(line).toContain('insert into \\"users\\"')
    expect(line).toContain('22021')
    expect(line).not.toContain('canary')
  }
})

test('no value of a failed statement is on a status page', async () => {
  expect(describeFailure(await failure())).not.toContain('canary')
  expect(describeFailure(Object.assign(new Error('x\nparams: canary'), { query: 'select 1', params: [] }))).toBe(
    'Failed query: select 1',
  )
})

test('a statement that fails for one request does not delay other requests, unless the database is unreachable', async () => {
  const refused = await failure()
  const done: number[] = []
  const all = (failing: number, error: unknown) =>
    sumApart([1, 2, 3], async (item) => {
      if (item === failing) throw error
      done.push(item)
      return item
    })
  expect(await all(0, refused)).toBe(6)
  for (const [error, expected] of [
    [refused, [1, 3]],
    [new TypeError('ours'), [1, 3]],
    [Object.assign(new Error('statement timeout'), { code: '57014' }), [1, 3]],
    [new DatabaseTimeoutError('no answer'), [1]],
    [Object.assign(new Error('stops'), { code: '57P01' }), [1]],
    [Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' }), [1]],
  ] as const) {
    done.length = 0
    expect(await all(2, error).catch((thrown: unknown) => thrown)).toBe(error)
    expect(done).toEqual([...expected])
  }
})
