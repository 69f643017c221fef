/** The settings of keys: each is stored, shown and audited by its row in the table, and its texts are in one file. */
import { describe, expect, test } from 'bun:test'
import { getTableColumns } from 'drizzle-orm'
import { describeSettings, keyColumns, wireOf } from '@/accounts/key-limits'
import { apiKeys } from '@/db/schema'
import { nano } from '@/lib/money'
import { changesIn, formOf } from '@/people/form-values'
import { KeyBody, KeyChangesBody } from '@/people/keys/bodies'
import { FIELD_ROWS, type KeySettings } from '@/people/keys/fields'
import { KEY_REFUSALS } from '@/people/keys/refusals'

const SETTINGS: KeySettings = {
  monthlyBudget: nano(25_500_000_000),
  expiresAtMs: Date.UTC(2027, 0, 1),
  requestsPerMinute: 10,
  tokensPerMinute: 20,
  concurrency: 3,
  allowedModels: ['svc/alpha'],
  allowedProviders: ['provider1'],
  zeroRetention: true,
  noTraining: true,
  regions: ['eu'],
  allowedAddresses: ['203.0.113.0/24'],
  tags: ['team=search'],
}

const SOURCES = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync(`${import.meta.dir}/../../..`)]
const TEXTS = await Promise.all(SOURCES.map((path) => Bun.file(`${import.meta.dir}/../../../${path}`).text()))

/** The sources that say a text. */
function holdersOf(text: string): string[] {
  return SOURCES.filter((_, index) => [`'${text}'`, `"${text}"`].some((quoted) => TEXTS[index]?.includes(quoted)))
}

describe.each(FIELD_ROWS)('the key setting $wire', ({ name, wire, column, isLimit }) => {
  test('the key setting has a column, and is in the bodies of a change and of a key', () => {
    expect(Object.keys(getTableColumns(apiKeys))).toContain(column)
    expect(Object.keys(KeyChangesBody.properties)).toContain(wire)
    expect(Object.keys(isLimit ? KeyBody.properties.limits.properties : KeyBody.properties)).toContain(wire)
  })

  test('the key setting is written to its column and to the audit log only', () => {
    const change = { [name]: SETTINGS[name] }
    expect(Object.keys(keyColumns(change))).toEqual([column])
    expect(describeSettings(change)[wire]).toBeDefined()
    expect(keyColumns({})).toEqual({})
  })

  test('a form sends the key setting only if it was changed', () => {
    const shown = wireOf(SETTINGS)
    const [before, now] = [formOf(FIELD_ROWS), formOf(FIELD_ROWS, shown)]
    expect(changesIn(FIELD_ROWS, now, now)).toEqual({})
    expect(Object.keys(changesIn(FIELD_ROWS, before, { ...before, [wire]: now[wire] }))).toEqual([wire])
  })
})

test.each(Object.entries(KEY_REFUSALS))('the text of the refusal %s is in one file', (_, { message }) => {
  expect(holdersOf(message).length).toBeLessThanOrEqual(1)
})
