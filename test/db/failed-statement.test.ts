/** A statement that fails, as it ends up in the log: with its text and its cause, without the values it was sent with. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { users } from '@/db/auth-schema'
import { connectDatabase, type Database } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { createLogger } from '@/lib/logger'

setDefaultTimeout(300_000)

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

test.each(['info', 'debug'] as const)('no value of it is logged at level %s', async (level) => {
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

test('no value of it is told by a status page either', async () => {
  expect(describeFailure(await failure())).not.toContain('canary')
  expect(describeFailure(Object.assign(new Error('x\nparams: canary'), { query: 'select 1', params: [] }))).toBe(
    'Failed query: select 1',
  )
})
