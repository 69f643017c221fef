/** The text of an error for logs: without the values that a failed statement was sent with. */
import { expect, test } from 'bun:test'
import { messageOf, stackOf } from '@/lib/error-text'

/** As the query builder throws it. */
class QueryError extends Error {
  readonly query = 'insert into "users" ("email") values ($1)'
  readonly params = ['canary@example.test']
  constructor() {
    super('Failed query: insert into "users" ("email") values ($1)\nparams: canary@example.test')
  }
}

test('the error text of a failed statement is its message', () => {
  expect(messageOf(new QueryError())).toBe('Failed query: insert into "users" ("email") values ($1)')
  expect(stackOf(new QueryError())).toContain('Failed query: insert into "users"')
  expect(stackOf(new QueryError())).toContain('error-text.test.ts')
  expect(stackOf(new QueryError())).not.toContain('canary')
})

test('the error text of other errors is their message', () => {
  const error = new Error('the disk costs $& and is full')
  expect(messageOf(error)).toBe('the disk costs $& and is full')
  expect(stackOf(error)).toBe(error.stack)
})
