/** The database connection: exact numbers, time limits, and kinds of failures. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { plainArray, textArray } from '@/db/array-literal'
import { connectDatabase, type Database } from '@/db/client'
import { DatabaseTimeoutError, withDatabaseDeadline } from '@/db/deadline'
import { databaseFailure, describeFailure, isUniqueViolation } from '@/db/failure'

let address: string
let database: Database

beforeAll(async () => {
  address = await freshDatabase()
  database = connectDatabase(address, { maxConnections: 4 })
})
afterAll(() => database.close())

describe('connectDatabase', () => {
  test('bigints are read as exact numbers; inexact ones are refused', async () => {
    const [row] = await database.sql`SELECT 9007199254740991::bigint AS largest, (-9000000000000000)::bigint AS lowest`
    expect(row).toEqual({ largest: 9_007_199_254_740_991, lowest: -9_000_000_000_000_000 })
    await expect(failure(database.sql`SELECT 9007199254740993::bigint AS beyond`)).resolves.toContain('beyond 2^53')
    const [after] = await database.sql`SELECT 1 AS one`
    expect(after).toEqual({ one: 1 })
  })

  test('a slow statement is cancelled, and its connection can be used again', async () => {
    const impatient = connectDatabase(address, { maxConnections: 1, statementTimeoutMs: 200 })
    await expect(failure(impatient.sql`SELECT pg_sleep(30)`)).resolves.toContain('statement timeout')
    await impatient.sql`SET statement_timeout = 0`
    const [after] = await impatient.sql`SELECT 1 AS one`
    expect(after).toEqual({ one: 1 })
    await impatient.close()
  })

  test('connections use UTC', async () => {
    const [row] = await database.sql`SELECT current_setting('TimeZone') AS zone`
    expect(row).toEqual({ zone: 'UTC' })
  })

  test('connecting to a closed port fails at once', async () => {
    const nowhere = connectDatabase('postgres://nobody@127.0.0.1:1/none', { maxConnections: 1 })
    try {
      await nowhere.sql`SELECT 1`
      expect.unreachable()
    } catch (error) {
      expect(databaseFailure(error)).toBe('unavailable')
    } finally {
      await nowhere.close(0)
    }
  })
})

describe('array literals', () => {
  test('array literals carry any text', async () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''))
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (values) => {
        const [row] = await database.sql`SELECT to_json(${textArray(values)}::text::text[]) AS values`
        expect(row?.values).toEqual(values)
      }),
      { numRuns: 100 },
    )
  })

  test('array literals drop characters that Postgres cannot store', async () => {
    const [row] = await database.sql`SELECT to_json(${textArray(['a\0b'])}::text::text[]) AS values`
    expect(row?.values).toEqual(['ab'])
  })

  test('array literals carry numbers, booleans and null', async () => {
    const [row] = await database.sql`SELECT to_json(${plainArray([1, null, -9e15])}::text::bigint[]) AS numbers,
      to_json(${plainArray([true, false])}::text::boolean[]) AS flags, to_json(${plainArray([])}::text::bigint[]) AS none`
    expect(row).toEqual({ numbers: [1, null, -9e15], flags: [true, false], none: [] })
  })
})

describe('failures', () => {
  test('a database failure is classified as data, race or database', async () => {
    const { sql } = database
    expect(databaseFailure(await errorOf(sql`SELECT 1 / 0`))).toBe('data')
    expect(databaseFailure(await errorOf(sql`SELECT 'x'::nano_usd`))).toBe('data')
    expect(databaseFailure(await errorOf(sql`SELECT * FROM no_such_table`))).toBe('unavailable')
    const cutShort = sql.begin(async (transaction) => {
      await transaction`SET LOCAL statement_timeout = 100`
      await transaction`SELECT pg_sleep(30)`
    })
    expect(databaseFailure(await errorOf(cutShort))).toBe('unavailable')
    expect(databaseFailure(new TypeError('bug'))).toBe('unavailable')
  })

  test('a database failure has the constraint’s name, and never the parameters', async () => {
    const { sql, db } = database
    await sql`INSERT INTO users (id, email, name) VALUES ('user_1', 'a@example.test', 'One')`
    const again = db.query.users.findFirst({ where: (user, { eq }) => eq(user.id, 'secret\0parameter') })
    const unique = await errorOf(sql`INSERT INTO users (id, email, name) VALUES ('user_2', 'a@example.test', 'Two')`)
    expect(isUniqueViolation(unique)).toBe(true)
    expect(isUniqueViolation(unique, 'users_email_key')).toBe(true)
    expect(isUniqueViolation(unique, 'users_pkey')).toBe(false)
    expect(describeFailure(await errorOf(again))).not.toContain('secret')
  })
})

describe('withDatabaseDeadline', () => {
  test('withDatabaseDeadline returns the result, the error, or a timeout', async () => {
    await expect(withDatabaseDeadline(Promise.resolve(1), 1000)).resolves.toBe(1)
    await expect(withDatabaseDeadline(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no')
    await expect(withDatabaseDeadline(new Promise(() => {}), 10)).rejects.toBeInstanceOf(DatabaseTimeoutError)
  })
})

async function errorOf(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('was expected to fail')
}

async function failure(work: PromiseLike<unknown>): Promise<string> {
  return String(await errorOf(work))
}
