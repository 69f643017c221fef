/** Usage events: what the scripts write is read back whole, and anything else is seen to be none. */
import { describe, expect, test } from 'bun:test'
import { parseEventEnvelope, parseRecord, parseUsageEvent, summaryOf } from '@/ledger/usage-event'
import { nano } from '@/lib/money'
import { RECORD } from './harness'

const FIELDS = {
  eventId: 'hold_1',
  holdId: 'hold_1',
  accountId: 'acct_1',
  keyId: 'key_1',
  kind: 'settle',
  cost: '150',
  held: '400',
  seq: '7',
  atMs: '1760000000000',
  flags: 'overrun,forced',
  record: JSON.stringify(RECORD),
}

const entry = (changes: Partial<Record<keyof typeof FIELDS, string>> = {}) =>
  Object.entries({ ...FIELDS, ...changes }).flat()

describe('parseUsageEvent', () => {
  test('reads what the scripts write', () => {
    expect(parseUsageEvent(entry())).toEqual({
      ...{ eventId: 'hold_1', holdId: 'hold_1', accountId: 'acct_1', keyId: 'key_1', kind: 'settle', cost: nano(150) },
      ...{ held: nano(400), seq: 7, atMs: 1_760_000_000_000, flags: ['overrun', 'forced'], record: RECORD },
    })
    expect(parseUsageEvent(entry({ kind: 'late', eventId: 'hold_1:late', cost: '-9', flags: '' }))).toMatchObject({
      ...{ kind: 'late', cost: nano(-9), flags: [] },
    })
  })

  test.each(Object.keys(FIELDS))('refuses an entry without %s, or with nonsense in it', (name) => {
    const without = Object.entries(FIELDS).filter(([field]) => field !== name)
    const isOptional = name === 'flags'
    if (!isOptional) expect(parseUsageEvent(without.flat())).toBeUndefined()
    for (const bad of ['nan', '1e3', '1.5', '{}', 'a b', '\0', '9007199254740993']) {
      const isId = /^(account|key)Id$/.test(name) && /^\w+$/.test(bad)
      if (!isId) expect(parseUsageEvent(entry({ [name]: bad }))).toBeUndefined()
    }
  })

  test('refuses what contradicts itself', () => {
    for (const changes of [
      ...[{ eventId: 'hold_2' }, { kind: 'late' }, { eventId: 'hold_1:late' }, { seq: '0' }, { held: '-1' }],
      ...[{ cost: '9000000000000001' }, { flags: 'overrun,' }, { flags: 'generous' }, { atMs: '253402300800000' }],
    ]) {
      expect(parseUsageEvent(entry(changes))).toBeUndefined()
    }
    expect(parseUsageEvent([])).toBeUndefined()
    expect(parseUsageEvent(['eventId'])).toBeUndefined()
  })

  test('still reads the money of an entry whose record is broken', () => {
    const broken = entry({ record: '{"usage":' })
    expect(parseUsageEvent(broken)).toBeUndefined()
    expect(parseEventEnvelope(broken)).toMatchObject({ cost: nano(150), seq: 7 })
  })
})

describe('parseRecord', () => {
  test('reads a whole record', () => {
    expect(parseRecord(JSON.stringify(RECORD))).toEqual(RECORD)
    expect(parseRecord(JSON.stringify({ ...RECORD, firstTokenMs: null, flags: ['clamped'] }))).toBeDefined()
    expect(summaryOf(RECORD)).toBe('18|7|svc/alpha')
  })

  test.each(Object.keys(RECORD))('refuses one without %s', (name) => {
    const { [name as keyof typeof RECORD]: _, ...rest } = RECORD
    expect(parseRecord(JSON.stringify(rest))).toBeUndefined()
    for (const bad of [{}, [], [[]], 'x', -0.5]) {
      const isFine = name === 'flags' ? JSON.stringify(bad) === '[]' : typeof bad === typeof RECORD[name as 'model']
      if (!isFine) expect(parseRecord(JSON.stringify({ ...RECORD, [name]: bad }))).toBeUndefined()
    }
  })

  test.each(Object.keys(RECORD.usage))('refuses a usage whose %s is no count', (name) => {
    for (const bad of [-1, 0.5, 2 ** 53, null, '1', undefined]) {
      expect(parseRecord(JSON.stringify({ ...RECORD, usage: { ...RECORD.usage, [name]: bad } }))).toBeUndefined()
    }
  })
})
