/** Usage records: what the scripts write is read back whole, and anything else is seen to be none. */
import { describe, expect, test } from 'bun:test'
import { factsText, parseRecordEnvelope, parseUsageRecord, type RequestFacts, summaryOf } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { FACTS } from './harness'

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
  record: JSON.stringify(FACTS),
}

const entry = (changes: Partial<Record<keyof typeof FIELDS, string>> = {}) =>
  Object.entries({ ...FIELDS, ...changes }).flat()

describe('parseUsageRecord', () => {
  test('reads what the scripts write', () => {
    expect(parseUsageRecord(entry())).toEqual({
      ...{ recordId: 'hold_1', holdId: 'hold_1', accountId: 'acct_1', keyId: 'key_1', kind: 'settle', cost: nano(150) },
      ...{ held: nano(400), seq: 7, atMs: 1_760_000_000_000, flags: ['overrun', 'forced'], facts: FACTS },
    })
    expect(parseUsageRecord(entry({ kind: 'late', eventId: 'hold_1:late', cost: '-9', flags: '' }))).toMatchObject({
      ...{ kind: 'late', cost: nano(-9), flags: [] },
    })
  })

  test.each(Object.keys(FIELDS))('refuses an entry without %s, or with nonsense in it', (name) => {
    const without = Object.entries(FIELDS).filter(([field]) => field !== name)
    const isOptional = name === 'flags'
    if (!isOptional) expect(parseUsageRecord(without.flat())).toBeUndefined()
    for (const bad of ['nan', '1e3', '1.5', '{}', 'a b', '\0', '9007199254740993']) {
      const isId = /^(account|key)Id$/.test(name) && /^\w+$/.test(bad)
      if (!isId) expect(parseUsageRecord(entry({ [name]: bad }))).toBeUndefined()
    }
  })

  test('refuses what contradicts itself', () => {
    for (const changes of [
      ...[{ eventId: 'hold_2' }, { kind: 'late' }, { eventId: 'hold_1:late' }, { seq: '0' }, { held: '-1' }],
      ...[{ cost: '9000000000000001' }, { flags: 'overrun,' }, { flags: 'generous' }, { atMs: '253402300800000' }],
    ]) {
      expect(parseUsageRecord(entry(changes))).toBeUndefined()
    }
    expect(parseUsageRecord([])).toBeUndefined()
    expect(parseUsageRecord(['eventId'])).toBeUndefined()
  })

  test('still reads the money of an entry whose facts are broken', () => {
    const broken = entry({ record: '{"usage":' })
    expect(parseUsageRecord(broken)).toBeUndefined()
    expect(parseRecordEnvelope(broken)).toMatchObject({ cost: nano(150), seq: 7 })
  })
})

describe('the facts of an entry', () => {
  const factsIn = (facts: object) => parseUsageRecord(entry({ record: JSON.stringify(facts) }))?.facts

  test('are read whole', () => {
    expect(factsIn(FACTS)).toEqual(FACTS)
    expect(factsIn({ ...FACTS, firstTokenMs: null, flags: ['clamped'] })).toBeDefined()
    expect(summaryOf(FACTS)).toBe('18|7|svc/alpha')
  })

  test('of a hang-up go by a rule that older gateways know, and are read back as what the store made of it', () => {
    const record = factsText({ ...FACTS, rule: 'hangup_input' })
    expect(JSON.parse(record).rule).toBe('disconnect_counted')
    const read = (changes: object) => parseUsageRecord(entry({ record, ...changes }))?.facts
    expect(read({ cost: '150' })).toEqual({ ...FACTS, rule: 'hangup_input' })
    expect(read({ cost: '0' })).toEqual({ ...FACTS, rule: 'hangup_free' })
    expect(read({ kind: 'late', eventId: 'hold_1:late', cost: '0' })?.rule).toBe('hangup_input')
  })

  test('say nothing of labels where nobody did, and are refused where those are none', () => {
    expect(factsText({ ...FACTS, labels: undefined })).toBe(factsText(FACTS))
    for (const labels of [{}, { tags: ['a=b'], app: 'My App', endUser: 'a1' }])
      expect(factsIn({ ...FACTS, labels })).toEqual({ ...FACTS, labels })
    for (const labels of [null, 'x', [], { tags: 'a=b' }, { tags: [1] }, { app: {} }, { endUser: 1 }])
      expect(factsIn({ ...FACTS, labels })).toBeUndefined()
  })

  test.each(Object.keys(FACTS))('are refused without %s', (name) => {
    const { [name as keyof typeof FACTS]: _, ...rest } = FACTS
    expect(factsIn(rest)).toBeUndefined()
    for (const bad of [{}, [], [[]], 'x', -0.5]) {
      const isFine = name === 'flags' ? JSON.stringify(bad) === '[]' : typeof bad === typeof FACTS[name as 'model']
      if (!isFine) expect(factsIn({ ...FACTS, [name]: bad })).toBeUndefined()
    }
  })

  test.each(Object.keys(FACTS.usage))('are refused with a usage whose %s is no count', (name) => {
    for (const bad of [-1, 0.5, 2 ** 53, null, '1', undefined]) {
      expect(factsIn({ ...FACTS, usage: { ...FACTS.usage, [name]: bad } })).toBeUndefined()
    }
  })
})

describe('the facts of a compact entry', () => {
  const HOLD_ID = 'req_1'
  const read = (facts: RequestFacts, holdId = HOLD_ID) => {
    const { record: _, ...rest } = { ...FIELDS, holdId, flags: '' }
    const { accountId, keyId, kind, cost, held, seq, atMs, flags } = rest
    const text = [holdId, accountId, keyId, kind, cost, held, seq, atMs, flags, factsText(facts, holdId)].join(' ')
    return parseUsageRecord(['r', text])
  }

  test('are the same as of any other', () => {
    const rare: RequestFacts = {
      ...FACTS,
      ...{
        routeReason: 'chosen; "a", b',
        providerCost: nano(0),
        firstTokenMs: null,
        flags: ['clamped'],
        stream: false,
      },
      ...{ tools: [{ name: 'web_search', uses: 2, cost: nano(5) }], idempotencyKey: 'f'.repeat(64) },
      ...{ labels: { tags: ['a=b c'], app: 'My App' }, outrun: { calls: 1, cost: nano(4) }, isReclassified: true },
    }
    for (const facts of [FACTS, rare, { ...FACTS, requestedModel: FACTS.model, providerFormat: FACTS.clientFormat }]) {
      expect(read(facts)).toEqual({
        ...{ recordId: HOLD_ID, holdId: HOLD_ID, accountId: 'acct_1', keyId: 'key_1', kind: 'settle', cost: nano(150) },
        ...{ held: nano(400), seq: 7, atMs: 1_760_000_000_000, flags: [], facts },
      })
      expect(read(facts, 'another')?.facts.requestId).toBe('req_1')
    }
    expect(read({ ...FACTS, rule: 'hangup_input' })?.facts).toEqual({ ...FACTS, rule: 'hangup_input' })
  })

  test('are refused where anything is missing or of the wrong type, and their money is still read', () => {
    const envelope = 'req_1 acct_1 key_1 settle 150 400 7 1760000000000 late'
    const list: unknown[] = JSON.parse(factsText(FACTS, 'another'))
    expect(parseUsageRecord(['r', `${envelope} ${JSON.stringify(list)}`])).toBeDefined()
    for (const index of list.keys()) {
      for (const bad of [{}, 'nan', undefined]) {
        const isText = typeof list[index] === 'string' && bad === 'nan' && ![5, 6, 7].includes(index)
        const isLeftOut = bad === undefined && [0, 2, 6, 12, 14, 16].includes(index)
        const entry = ['r', `${envelope} ${JSON.stringify(list.with(index, bad))}`]
        if (!isText && !isLeftOut && !(index === 12 && bad === 'nan')) expect(parseUsageRecord(entry)).toBeUndefined()
        expect(parseRecordEnvelope(entry)).toMatchObject({ cost: nano(150), seq: 7, flags: ['late'] })
      }
    }
    expect(parseUsageRecord(['r', `${envelope} []`])).toBeUndefined()
    expect(parseUsageRecord(['r', `${envelope} ${JSON.stringify(list.slice(0, -1))}`])).toBeUndefined()
    expect(parseRecordEnvelope(['r', envelope])).toMatchObject({ cost: nano(150) })
    expect(parseRecordEnvelope(['r', envelope.slice(0, 40)])).toBeUndefined()
    expect(parseRecordEnvelope(['r'])).toBeUndefined()
  })

  test('keep whose key it was', () => {
    const text = `req_1 acct_1 key_1 settle 150 400 7 1760000000000  ${factsText(FACTS, 'req_1')}`
    expect(parseUsageRecord(['r', text, 'member', 'user_1'])).toMatchObject({ memberId: 'user_1', facts: FACTS })
    expect(parseUsageRecord(['r', text])).not.toHaveProperty('memberId')
  })
})
