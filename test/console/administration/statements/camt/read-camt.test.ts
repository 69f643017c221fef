/** CAMT.053 statements of banks: which entries become lines, how payments are identified, and what is refused. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { readStatement } from '@/console/administration/statements/read-statement'
import { MAX_STATEMENT_CHARS, MAX_STATEMENT_LINES } from '@/console/administration/statements/statement'
import { assert } from '@/lib/assert'
import { CAMT_VERSIONS, type CamtEntry, camt } from './build'
import { randomFile } from './random-statement'

const OPTIONS = { dateOrder: 'detect', currency: undefined } as const

async function readLines(xml: string) {
  const read = await readStatement(xml, OPTIONS)
  assert(read.kind === 'read' && read.format === 'camt.053', JSON.stringify(read))
  return read.lines
}

async function faultsOf(xml: string): Promise<string> {
  const read = await readStatement(xml, OPTIONS)
  assert(read.kind === 'faulty', 'it was read')
  return read.faults.join(' ')
}

const PAYMENT = { text: 'SVC-7K3M-9QXP thanks', payer: 'Müller & Söhne', endToEnd: 'E2E-7', bankReference: 'B1' }

describe.each(CAMT_VERSIONS)('version %s of CAMT.053', (version) => {
  const lineOf = async (entry: Partial<CamtEntry>) =>
    (await readLines(camt(version, [{ amount: '50.00', ...entry }])))[0]

  test('a booked credit becomes a line with day, amount, texts and payer', async () => {
    const lines = await readLines(camt(version, [{ amount: '1234.5', payments: [PAYMENT], note: 'GUTSCHRIFT' }]))
    expect(lines).toEqual([
      {
        ...{ line: 1, bookedOn: '2026-11-20', amountCents: 123_450, currency: 'USD' },
        ...{ reference: 'SVC-7K3M-9QXP thanks E2E-7 GUTSCHRIFT', counterparty: 'Müller & Söhne' },
        lineKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
  })

  test('the creditor reference is read first, and texts in several elements are joined', async () => {
    const payments = [{ text: ['for SVC-7K3M', '9QXP'], creditorReference: 'SVC7K3M9QXP' }]
    expect((await lineOf({ payments }))?.reference).toBe('SVC7K3M9QXP for SVC-7K3M 9QXP')
  })

  test.each([
    ['a pending entry', { status: 'PDNG' }, { amountCents: 5_000, exclusion: 'not_booked' }],
    ['an entry for information', { status: 'INFO' }, { amountCents: 5_000, exclusion: 'not_booked' }],
    ['a reversed debit', { isReversal: true }, { amountCents: 5_000, exclusion: 'reversal' }],
    ['a reversed credit', { isReversal: true, direction: 'DBIT' }, { amountCents: -5_000, exclusion: 'reversal' }],
    ['a returned payment', { payments: [{ isReturn: true }] }, { amountCents: 5_000, exclusion: 'reversal' }],
    ['an outgoing payment', { direction: 'DBIT' }, { amountCents: -5_000 }],
    ['another currency', { currency: 'EUR' }, { amountCents: 5_000, currency: 'EUR' }],
  ] as const)('%s becomes a line of the statement, marked with its kind', async (_, entry, expected) => {
    const line = await lineOf(entry)
    expect(line).toMatchObject(expected)
    expect(line?.exclusion).toBe('exclusion' in expected ? expected.exclusion : undefined)
  })

  test('a batch entry of a statement becomes a line for each of its payments, with its own texts', async () => {
    const payments = [
      { usd: '20.00', text: 'SVC-7K3M-9QXP', payer: 'Ada' },
      { usd: '30.00', text: 'SVC-2222-2222', payer: 'Grace' },
    ]
    const lines = await readLines(camt(version, [{ amount: '50.00', bankReference: 'N1', payments, note: 'BATCH' }]))
    expect(lines.map(({ amountCents, reference, counterparty }) => [amountCents, reference, counterparty])).toEqual([
      [2_000, 'SVC-7K3M-9QXP', 'Ada'],
      [3_000, 'SVC-2222-2222', 'Grace'],
    ])
    expect(new Set(lines.map(({ lineKey }) => lineKey)).size).toBe(2)
  })

  test.each([
    ['do not add up', [{ usd: '20.00' }, { usd: '30.01' }]],
    ['are missing', [{ usd: '20.00' }, {}]],
  ])('a batch whose amounts %s becomes one line with a warning', async (_, payments) => {
    const lines = await readLines(camt(version, [{ amount: '50.00', payments }]))
    expect(lines).toMatchObject([{ amountCents: 5_000, exclusion: 'unclear_batch' }])
  })

  test('the bank’s reference identifies a payment, even if texts and version differ', async () => {
    const other = version === '02' ? '08' : '02'
    const keyOf = async (entry: Partial<CamtEntry>, in_: typeof version = version) =>
      (await readLines(camt(in_, [{ amount: '50.00', bankReference: 'N1', ...entry }])))[0]?.lineKey
    const key = await keyOf({})
    expect(await keyOf({ note: 'other text', payments: [{ text: 'more' }] })).toBe(key as string)
    expect(await keyOf({}, other)).toBe(key as string)
    for (const entry of [{ bankReference: 'N2' }, { amount: '50.01' }, { day: '2026-11-21' }, { currency: 'EUR' }]) {
      expect(await keyOf(entry)).not.toBe(key)
    }
  })

  test.each(['NONREF', 'NOTPROVIDED', undefined])(
    'with the bank’s reference %s, a payment is identified by its content instead',
    async (none) => {
      const entry = { amount: '50.00', ...(none !== undefined && { bankReference: none }) }
      const keys = async (...entries: CamtEntry[][]) =>
        (await readLines(camt(version, ...entries))).map(({ lineKey }) => lineKey)
      const [first, second] = await keys([entry, entry])
      expect(first).not.toBe(second)
      // A statement that the file repeats has the same bookings.
      expect(await keys([entry, entry], [entry, entry])).toEqual([first, second, first, second] as string[])
      expect(await keys([{ ...entry, payments: [{ endToEnd: 'E2E-8' }] }])).not.toContain(first)
    },
  )
})

test('random statements have exactly the booked credits in USD', async () => {
  await fc.assert(
    fc.asyncProperty(randomFile, async ({ version, statements }) => {
      const lines = await readLines(camt(version, ...statements.map((entries) => entries.map(({ entry }) => entry))))
      const credited = lines
        .filter(({ exclusion, amountCents, currency }) => !exclusion && amountCents > 0 && currency === 'USD')
        .map(({ amountCents }) => amountCents)
      expect(credited).toEqual(statements.flat().flatMap(({ credits }) => credits))
    }),
  )
})

const VALID = camt('08', [{ amount: '50.00', payments: [PAYMENT] }])

describe('refused XML', () => {
  test.each([
    ['a tag that is not closed', VALID.replace('</Ntry>', ''), /^The XML is broken at line \d+, column \d+: .*tag/],
    ['text after the root element', `${VALID}more`, /^The XML is broken at line \d+, column \d+: /],
    ['an end tag in the middle', VALID.slice(0, 700), /^The XML is broken at line \d+, column \d+: unclosed tag/],
    [
      'an unknown entity',
      VALID.replace('thanks', '&bank;'),
      /^The XML is broken at line 10, column \d+: undefined entity/,
    ],
    [
      'a DOCTYPE',
      VALID.replace('<Document', '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Document'),
      /^The XML has a DOCTYPE at line 2/,
    ],
    [
      'another message',
      VALID.replaceAll('camt.053', 'camt.054'),
      /is a camt\.054\.001\.08\. Export the statement as camt\.053/,
    ],
    ['another version', VALID.replaceAll('001.08', '001.13'), /is a camt\.053\.001\.13\. /],
    ['another kind of XML', '<html><body>50.00 USD</body></html>', /^The XML is no bank statement\. /],
    [
      'no statement in its message',
      VALID.replaceAll('BkToCstmrStmt', 'BkToCstmrAcctRpt'),
      /^Expected the element BkToCstmrStmt/,
    ],
    ['no entries', camt('08', []), /^The statement has no bookings\.$/],
    ['an amount with a fraction of a cent', VALID.replace('>50.00<', '>50.001<'), /^Entry 1: the amount can't be read/],
    ['an amount in words', VALID.replace('>50.00<', '>1e3<'), /^Entry 1: the amount can't be read/],
    [
      'an amount without currency',
      VALID.replace('<Ntry><Amt Ccy="USD">', '<Ntry><Amt>'),
      /^Entry 1: the amount can't be read/,
    ],
    ['no direction', VALID.replaceAll('CRDT', 'BOTH'), /^Entry 1: neither credit nor debit\.$/],
    ['an impossible day', VALID.replaceAll('2026-11-20', '2026-02-30'), /^Entry 1: no day of booking\.$/],
    ['depth', VALID.replace('<Refs>', `<Refs>${'<a>'.repeat(70)}`), /nested deeper than 64 at line/],
  ])('XML with %s is refused with the reason', async (_, xml, fault) => {
    expect(await faultsOf(xml)).toMatch(fault)
  })

  test('XML beyond its limits is refused: characters, elements, entries', async () => {
    expect(await faultsOf(`<${'x'.repeat(MAX_STATEMENT_CHARS)}`)).toContain('longer than 20000000 characters')
    const many = VALID.replace('</Ntry>', `<X>${'<a/>'.repeat(1_000_001)}</X></Ntry>`)
    expect(await faultsOf(many)).toContain('more than 1000000 elements')
    const entries = Array.from({ length: MAX_STATEMENT_LINES + 1 }, () => ({ amount: '1.00' }))
    expect(await faultsOf(camt('08', entries))).toContain(`more than ${MAX_STATEMENT_LINES} bookings`)
    expect(await readLines(camt('08', entries.slice(1)))).toHaveLength(MAX_STATEMENT_LINES)
  })
})

test('namespace prefixes are resolved, and elements of other namespaces are ignored', async () => {
  const prefixed = VALID.replace('xmlns=', 'xmlns:c=').replace(/<(\/?)(?=[A-Z])/g, '<$1c:')
  expect(await readLines(prefixed)).toEqual(await readLines(VALID))
  const foreign = VALID.replace('</Stmt>', '<x:Ntry xmlns:x="urn:x"><x:Amt Ccy="USD">9</x:Amt></x:Ntry></Stmt>')
  expect(await readLines(foreign)).toEqual(await readLines(VALID))
})

test('the day of a booking is the date in the bank’s file, in any time zone', async () => {
  const late = VALID.replace('<BookgDt><Dt>2026-11-20</Dt>', '<BookgDt><DtTm>2026-11-20T23:30:00-05:00</DtTm>')
  expect((await readLines(late))[0]?.bookedOn).toBe('2026-11-20')
  const withoutBooking = VALID.replace(/<BookgDt>.*?<\/BookgDt>/, '')
  expect((await readLines(withoutBooking))[0]?.bookedOn).toBe('2026-11-20')
})
