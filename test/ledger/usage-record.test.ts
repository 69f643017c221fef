/** Usage records: records written by the scripts are read back completely, and anything else is refused. */
import { describe, expect, test } from 'bun:test'
import { listText } from '@/ledger/facts-list'
import { factsText, parseRecordEnvelope, parseUsageRecord, type RequestFacts } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { FACTS } from './harness'

const FIELDS = {
  holdId: 'hold_1',
  holder: 'acct_1:key_1',
  kind: 'settle',
  cost: '150',
  held: '400',
  seq: '7',
  atMs: '1760000000000',
  flags: 'overrun,forced',
  facts: factsText(FACTS, 'hold_1'),
}

/** An entry of the stream, as the scripts append it. */
const entry = (changes: Partial<Record<keyof typeof FIELDS, string>> = {}) => [
  'r',
  Object.values({ ...FIELDS, ...changes }).join(' '),
]

describe('parseUsageRecord', () => {
  test('parseUsageRecord reads what the scripts write', () => {
    expect(parseUsageRecord(entry())).toEqual({
      ...{ recordId: 'hold_1', holdId: 'hold_1', accountId: 'acct_1', keyId: 'key_1', kind: 'settle', cost: nano(150) },
      ...{ held: nano(400), seq: 7, atMs: 1_760_000_000_000, flags: ['overrun', 'forced'], facts: FACTS },
    })
    expect(parseUsageRecord(entry({ kind: 'late', cost: '-9', flags: '' }))).toMatchObject({
      ...{ kind: 'late', cost: nano(-9), flags: [] },
    })
  })

  test.each(Object.keys(FIELDS))('parseUsageRecord refuses an entry without %s, or with an invalid one', (name) => {
    const without = Object.entries(FIELDS).flatMap(([field, value]) => (field === name ? [] : value))
    expect(parseUsageRecord(['r', without.join(' ')])).toBeUndefined()
    for (const bad of ['nan', '1e3', '1.5', '{}', 'a b', '\0', '9007199254740993']) {
      const isId = name === 'holdId'
      if (!isId) expect(parseUsageRecord(entry({ [name]: bad }))).toBeUndefined()
    }
  })

  test('parseUsageRecord refuses contradictory fields', () => {
    for (const changes of [
      ...[{ seq: '0' }, { held: '-1' }],
      ...[{ cost: '9000000000000001' }, { flags: 'overrun,' }, { flags: 'generous' }, { atMs: '253402300800000' }],
    ]) {
      expect(parseUsageRecord(entry(changes))).toBeUndefined()
    }
    expect(parseUsageRecord([])).toBeUndefined()
    expect(parseUsageRecord(['r'])).toBeUndefined()
    expect(parseUsageRecord(['other', entry()[1] ?? ''])).toBeUndefined()
  })

  test('parseUsageRecord still reads the amounts of an entry with broken details', () => {
    const broken = entry({ facts: '["req_1",' })
    expect(parseUsageRecord(broken)).toBeUndefined()
    expect(parseRecordEnvelope(broken)).toMatchObject({ cost: nano(150), seq: 7 })
  })
})

describe('details of an entry', () => {
  const factsIn = (facts: object) =>
    parseUsageRecord(entry({ facts: listText(facts as RequestFacts, 'hold_1') }))?.facts

  test('details of a usage record are read completely', () => {
    expect(factsIn(FACTS)).toEqual(FACTS)
    expect(factsIn({ ...FACTS, firstTokenMs: null, flags: ['clamped'] })).toBeDefined()
  })

  test('details of a disconnect say whether the disconnect was free', () => {
    const facts = factsText({ ...FACTS, rule: 'hangup_input' }, 'hold_1')
    const read = (changes: object) => parseUsageRecord(entry({ facts, ...changes }))?.facts
    expect(read({ cost: '150' })).toEqual({ ...FACTS, rule: 'hangup_input' })
    expect(read({ cost: '0' })).toEqual({ ...FACTS, rule: 'hangup_free' })
    expect(read({ kind: 'late', cost: '0' })?.rule).toBe('hangup_input')
  })

  test('details without labels are accepted; malformed labels are refused', () => {
    expect(factsText({ ...FACTS, labels: undefined }, 'hold_1')).toBe(FIELDS.facts)
    for (const labels of [{}, { tags: ['a=b'], app: 'My App', endUser: 'a1' }])
      expect(factsIn({ ...FACTS, labels })).toEqual({ ...FACTS, labels })
    for (const labels of [null, 'x', [], { tags: 'a=b' }, { tags: [1] }, { app: {} }, { endUser: 1 }])
      expect(factsIn({ ...FACTS, labels })).toBeUndefined()
  })

  test.each(Object.keys(FACTS))('details without %s are refused', (name) => {
    const { [name as keyof typeof FACTS]: _, ...rest } = FACTS
    // These say the same as another field where they are left out; so does null for a time that never came.
    const isImplied = ['requestId', 'requestedModel', 'providerFormat', 'firstTokenMs'].includes(name)
    if (!isImplied) expect(factsIn({ usage: {}, ...rest })).toBeUndefined()
    for (const bad of [{}, [], [[]], 'x', -0.5]) {
      const isFine = name === 'flags' ? JSON.stringify(bad) === '[]' : typeof bad === typeof FACTS[name as 'model']
      if (!isFine) expect(factsIn({ ...FACTS, [name]: bad })).toBeUndefined()
    }
  })

  test.each(Object.keys(FACTS.usage))('details whose usage has a non-integer %s are refused', (name) => {
    for (const bad of [-1, 0.5, 2 ** 53, null, '1', undefined]) {
      expect(factsIn({ ...FACTS, usage: { ...FACTS.usage, [name]: bad } })).toBeUndefined()
    }
  })
})

describe('units of a usage', () => {
  const one = { billable: 'output_image', unit: 'image', count: 2 }
  const bad: unknown[] = [
    ...[null, 'x', {}, [null], [[]], [{}]],
    ...[{ billable: 'picture' }, { unit: 'pixel' }, { count: -1 }, { count: 0.5 }, { count: '2' }].map((part) => [
      { ...one, ...part },
    ]),
    ...['', 'a b', 'a\0', 'x'.repeat(65), 7].map((variant) => [{ ...one, variant: variant === 7 ? {} : variant }]),
  ]

  test('malformed units are refused', () => {
    for (const units of bad) {
      const facts = listText({ ...FACTS, usage: { ...FACTS.usage, units } }, 'hold_1')
      expect(parseUsageRecord(entry({ facts }))).toBeUndefined()
    }
  })
})

describe('details as a list', () => {
  const HOLD_ID = 'req_1'
  const read = (facts: RequestFacts, holdId = HOLD_ID) => {
    return parseUsageRecord(entry({ holdId, flags: '', facts: factsText(facts, holdId) }))
  }

  test('details written as a list are read back unchanged', () => {
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
    const units = [
      { billable: 'output_image', unit: 'image', variant: '1024x1024-hd', count: 2 },
      { billable: 'input_audio', unit: 'token', count: 3 },
    ] as const
    const pictures = { ...FACTS, usage: { ...FACTS.usage, units } }
    for (const facts of [
      FACTS,
      rare,
      pictures,
      { ...FACTS, requestedModel: FACTS.model, providerFormat: FACTS.clientFormat },
    ]) {
      expect(read(facts)).toEqual({
        ...{ recordId: HOLD_ID, holdId: HOLD_ID, accountId: 'acct_1', keyId: 'key_1', kind: 'settle', cost: nano(150) },
        ...{ held: nano(400), seq: 7, atMs: 1_760_000_000_000, flags: [], facts },
      })
      expect(read(facts, 'another')?.facts.requestId).toBe('req_1')
    }
    expect(read({ ...FACTS, rule: 'hangup_input' })?.facts).toEqual({ ...FACTS, rule: 'hangup_input' })
  })

  test('a list with a missing or mistyped detail is refused, but its amounts are read', () => {
    const envelope = 'req_1 acct_1:key_1 settle 150 400 7 1760000000000 late'
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

  test('details contain the key’s owner', () => {
    expect(parseUsageRecord(entry({ holder: 'acct_1:key_1:user_1' }))).toMatchObject({
      memberId: 'user_1',
      facts: FACTS,
    })
    expect(parseUsageRecord(entry())).not.toHaveProperty('memberId')
  })
})
