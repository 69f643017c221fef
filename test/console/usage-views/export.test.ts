/** The export below HTTP: its end is reported once, and failed reads get a clear error. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { NOON_MS, usageRecord } from '@test/usage/sample-records'
import { GatewayError } from '@/chat/error'
import { EXPORT_FORMATS, exportRecords } from '@/console/usage-views/export-records'
import { readHistory } from '@/console/usage-views/read-history'
import { type SearchOptions, searchRecords } from '@/console/usage-views/record-search'
import type { UsageFilter } from '@/console/usage-views/usage-filter'
import { connectDatabase, type Database } from '@/db/client'
import { writeUsageBatch } from '@/usage/write-batch'

let address: string
let database: Database

beforeAll(async () => {
  address = await freshDatabase()
  database = connectDatabase(address, { maxConnections: 1 })
  const records = Array.from({ length: 2_500 }, (_, index) => usageRecord({ seq: index + 1, atMs: NOON_MS + index }))
  await writeUsageBatch(database.sql, records)
})
afterAll(() => database.close(0))

const { csv } = EXPORT_FORMATS
const ALL = { accountId: 'acct_1', fromMs: 0, toMs: NOON_MS * 2 }

const pagesOf =
  (filter: UsageFilter, from = database) =>
  (page: SearchOptions) =>
    searchRecords(from, filter, page)

function watchEnds() {
  const log: unknown[] = []
  return { log, onEnd: (failure?: unknown) => void log.push(failure ?? 'end') }
}

describe('exportRecords', () => {
  test('exportRecords queries when its stream is read, and returns all records', async () => {
    const { log, onEnd } = watchEnds()
    const stream = exportRecords(pagesOf(ALL), csv, onEnd)
    expect(log).toEqual([])
    const text = await new Response(stream).text()
    expect(text.trimEnd().split('\r\n')).toHaveLength(2_501)
    expect(log).toEqual(['end'])
  })

  test('an export without matches has its header only', async () => {
    const { log, onEnd } = watchEnds()
    const text = await new Response(exportRecords(pagesOf({ ...ALL, requestedModel: 'svc/none' }), csv, onEnd)).text()
    expect(text).toMatch(/^time_utc,[a-z0-9_,]+\r\n$/)
    expect(log).toEqual(['end'])
  })

  test('an export reports its end once if the reader disconnects', async () => {
    const { log, onEnd } = watchEnds()
    const reader = exportRecords(pagesOf(ALL), csv, onEnd).getReader()
    await reader.read()
    await reader.cancel()
    expect(log).toEqual(['end'])
  })

  test('an export reports its end once if the reader never reads', async () => {
    const { log, onEnd } = watchEnds()
    const unread = exportRecords(pagesOf(ALL), csv, onEnd, 1)
    await until(() => log.length === 1, 'it to end')
    await expect(unread.getReader().read()).rejects.toThrow('takes nothing')
    const begun = exportRecords(pagesOf(ALL), csv, onEnd, 1).getReader()
    await begun.read()
    await until(() => log.length === 2, 'that one to end')
    await expect(begun.read()).rejects.toThrow('takes nothing')
    expect(log).toEqual(['end', 'end'])
  })

  test('an export fails with the reason if Postgres fails', async () => {
    const { log, onEnd } = watchEnds()
    const failing = connectDatabase(address, { maxConnections: 1 })
    const reader = exportRecords(pagesOf(ALL, failing), csv, onEnd).getReader()
    expect((await reader.read()).done).toBe(false)
    await failing.close(0)
    await expect(reader.read()).rejects.toThrow()
    await reader.closed.catch(() => undefined)
    expect(log).toEqual([expect.any(Error)])
  })
})

describe('readHistory', () => {
  const failing = (code: string | undefined, wrap = false) => {
    const error = Object.assign(new Error('secret detail'), code === undefined ? {} : { code })
    return readHistory(Promise.reject(wrap ? new Error('wrapped', { cause: error }) : error)).catch((told) => told)
  }

  test('readHistory reports a timeout or an unreachable database, without the cause', async () => {
    for (const [code, kind] of [
      ['57014', 'timeout'],
      ['CONNECTION_ENDED', 'overloaded'],
      ['53300', 'overloaded'],
    ] as const) {
      for (const isWrapped of [false, true]) {
        const told = await failing(code, isWrapped)
        expect(told).toBeInstanceOf(GatewayError)
        expect([told.kind, told.message.includes('secret')]).toEqual([kind, false])
      }
    }
  })

  test('readHistory passes on other errors unchanged', async () => {
    expect(await failing(undefined)).not.toBeInstanceOf(GatewayError)
    const refusal = new GatewayError('not_found', 'gone')
    expect(await readHistory(Promise.reject(refusal)).catch((told) => told)).toBe(refusal)
    expect(await readHistory(Promise.resolve(5))).toBe(5)
  })
})
