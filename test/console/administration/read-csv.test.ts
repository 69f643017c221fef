/** CSV statements of banks: delimiters, headers, dates and amounts; ambiguous ones are refused. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { type DatesResult, readAmounts, readDates } from '@/console/administration/statements/cells'
import { MAX_CSV_CHARS, readCsv } from '@/console/administration/statements/read-csv'
import { MAX_STATEMENT_LINES } from '@/console/administration/statements/statement'
import { assert } from '@/lib/assert'

const OPTIONS = { dateOrder: 'detect', currency: undefined } as const

function linesOf(text: string, options: Partial<Parameters<typeof readCsv>[1]> = {}) {
  const read = readCsv(text, { ...OPTIONS, ...options })
  assert(read.kind === 'read', JSON.stringify(read))
  return read.lines.map(({ lineKey, ...line }) => line)
}

function faultsOf(text: string, options: Partial<Parameters<typeof readCsv>[1]> = {}): string {
  const read = readCsv(text, { ...OPTIONS, ...options })
  assert(read.kind === 'faulty', 'it was read')
  return read.faults.join(' ')
}

const EXPECTED = {
  line: 1,
  bookedOn: '2026-11-20',
  amountCents: 123_456,
  currency: 'USD',
  reference: 'SVC-7K3M-9QXP thanks',
  counterparty: 'Example Ltd',
}

describe('statements', () => {
  test.each([
    [
      'English, comma',
      'Date,Amount,Currency,Reference,Counterparty\n2026-11-20,1234.56,USD,SVC-7K3M-9QXP thanks,Example Ltd\n',
    ],
    [
      'German, semicolon, decimal comma',
      'Buchungstag;Betrag;Währung;Verwendungszweck;Auftraggeber\n20.11.2026;1.234,56;USD;SVC-7K3M-9QXP thanks;Example Ltd\n',
    ],
    [
      'a byte order mark, CRLF and quotes',
      '\uFEFF"Date","Amount","Currency","Description","Payer"\r\n"2026-11-20","1,234.56","usd","SVC-7K3M-9QXP thanks","Example Ltd"\r\n',
    ],
    [
      'facts of the account above the header',
      'Konto;DE00 0000\nZeitraum;November\n\nBuchungsdatum;Betrag;Whg;Verwendungszweck;Name\n20.11.26;1234,56;USD;SVC-7K3M-9QXP thanks;Example Ltd\n',
    ],
    [
      'tabs, month first shown by another line',
      'Date\tAmount\tCurrency\tMemo\tPayer\n11/20/2026\t$1,234.56\tUSD\tSVC-7K3M-9QXP thanks\tExample Ltd\n',
    ],
    [
      'two columns for the directions',
      'Date,Paid in,Paid out,Currency,Description,Name\n2026-11-20,1234.56,,USD,SVC-7K3M-9QXP thanks,Example Ltd\n',
    ],
    [
      'a word for the direction',
      'Datum;Betrag;Soll/Haben;Währung;Verwendungszweck;Name\n2026-11-20;1.234,56;H;USD;SVC-7K3M-9QXP thanks;Example Ltd\n',
    ],
    [
      'the currency beside the amount, references in two columns',
      'Date;Amount;Reference;Description;Payer\n2026-11-20;1234,56 USD;SVC-7K3M-9QXP;thanks;Example Ltd\n',
    ],
  ])('a CSV statement is read: %s', (_, text) => {
    expect(linesOf(text)[0]).toEqual(EXPECTED)
  })

  test('outgoing payments are negative in every notation of a CSV statement', () => {
    const header = 'Date,Amount,Currency,Reference\n'
    const rows = ['-5.00', '5.00-', '(5.00)', '−5.00', '- 5.00'].map((amount) => `2026-11-20,${amount},USD,x`)
    expect(linesOf(header + rows.join('\n')).map((line) => line.amountCents)).toEqual([-500, -500, -500, -500, -500])
    const german = 'Datum;Betrag;Soll/Haben;Währung;Zweck\n20.11.2026;5,00;S;EUR;x\n'
    expect(linesOf(german)[0]?.amountCents).toBe(-500)
    const twoColumns = 'Date,Credit,Debit,Currency,Details\n2026-11-20,,5.00,USD,x\n2026-11-20,,-5.00,USD,x\n'
    expect(linesOf(twoColumns).map((line) => line.amountCents)).toEqual([-500, -500])
  })

  test('if a CSV statement has no currency, the chosen currency applies', () => {
    const text = 'Date,Amount,Reference\n2026-11-20,5.00,x\n'
    expect(faultsOf(text)).toContain('no currency')
    expect(linesOf(text, { currency: 'USD' })[0]?.currency).toBe('USD')
  })

  test('two equal bookings on one day are different lines, and have the same ids in the next statement', () => {
    const header = 'Date,Amount,Currency,Reference\n'
    const row = '2026-11-20,5.00,USD,x\n'
    const keys = (text: string) => {
      const read = readCsv(text, OPTIONS)
      return read.kind === 'read' ? read.lines.map((line) => line.lineKey) : []
    }
    const [one, two] = keys(header + row + row)
    expect(one).not.toBe(two)
    expect(keys(`${header}2026-11-19,7.00,USD,y\n${row}${row}`).slice(1)).toEqual([one ?? '', two ?? ''])
  })

  test('control characters are removed from the texts of a statement', () => {
    const text = 'Date,Amount,Currency,Reference\n2026-11-20,5.00,USD,"a\u0000b\u202E c\n  d"\n'
    expect(linesOf(text)[0]?.reference).toBe('a b c d')
  })
})

describe('refused statements', () => {
  test.each([
    ['no statement at all', 'hello', 'No row of headers'],
    ['headers without bookings', 'Date,Amount,Reference\n', 'no bookings'],
    [
      'an impossible date',
      'Date,Amount,Currency,Reference\n2026-02-30,5.00,USD,x\n',
      'Booking 1: "2026-02-30" is no date',
    ],
    [
      'dates that may begin with day or month',
      'Date,Amount,Currency,Reference\n03/04/2026,5.00,USD,x\n',
      'day or with the month first',
    ],
    [
      'contradicting dates',
      'Date,Amount,Currency,Reference\n13/04/2026,5.00,USD,x\n04/13/2026,5.00,USD,y\n',
      'day or with',
    ],
    [
      'an amount whose separator may mean thousands',
      'Date,Amount,Currency,Reference\n2026-11-20,1.500,USD,x\n',
      "can't be read",
    ],
    [
      'both decimal signs',
      'Date,Amount,Currency,Reference\n2026-11-20,"1,50",USD,x\n2026-11-20,1.50,USD,x\n',
      'decimal comma and some',
    ],
    ['three decimals', 'Date,Amount,Currency,Reference\n2026-11-20,1.505,USD,x\n2026-11-20,1.50,USD,x\n', 'Booking 1'],
    ['an unknown direction', 'Datum;Betrag;S/H;Währung;Zweck\n20.11.2026;5,00;?;EUR;x\n', 'Booking 1'],
    ['credit and debit at once', 'Date,Credit,Debit,Currency,Details\n2026-11-20,5.00,5.00,USD,x\n', 'Booking 1'],
  ])('a CSV statement is refused: %s', (_, text, fault) => {
    expect(faultsOf(text)).toContain(fault)
  })

  test('choosing a date format makes ambiguous dates readable', () => {
    const text = 'Date,Amount,Currency,Reference\n03/04/2026,5.00,USD,x\n'
    expect(linesOf(text, { dateOrder: 'day-first' })[0]?.bookedOn).toBe('2026-04-03')
    expect(linesOf(text, { dateOrder: 'month-first' })[0]?.bookedOn).toBe('2026-03-04')
  })

  test('a statement with too many lines is refused', () => {
    const rows = Array.from({ length: MAX_STATEMENT_LINES + 1 }, (_, index) => `2026-11-20,5.00,USD,${index}`)
    expect(faultsOf(`Date,Amount,Currency,Reference\n${rows.join('\n')}`)).toContain(`${MAX_STATEMENT_LINES}`)
    expect(faultsOf('x'.repeat(MAX_CSV_CHARS + 1))).toContain('longer than')
  })

  test('no text makes the CSV reader throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        readCsv(`Date,Amount,Currency,Reference\n${text}`, OPTIONS)
        readCsv(text, OPTIONS)
      }),
      { numRuns: 100 },
    )
  })
})

const cents = fc.integer({ min: -99_999_999_999, max: 99_999_999_999 })
const notation = fc.constantFrom(['.', ''], ['.', ','], ['.', '’'], ['.', ' '], [',', ''], [',', '.'], [',', '\u00A0'])

/** The amount as a bank would write it. */
function written(value: number, [decimal = '.', thousands = '']: readonly string[]): string {
  const magnitude = Math.abs(value)
  const whole = String(Math.floor(magnitude / 100)).replace(/\B(?=(\d{3})+(?!\d))/g, thousands)
  return `${value < 0 ? '-' : ''}${whole}${decimal}${String(magnitude % 100).padStart(2, '0')}`
}

describe('amounts', () => {
  test('every amount in every notation is read exactly', () => {
    fc.assert(
      fc.property(fc.array(cents, { minLength: 1, maxLength: 20 }), notation, (values, signs) => {
        const read = readAmounts(values.map((value) => written(value, signs)))
        expect(read).toEqual({ kind: 'read', cents: values.map((value) => value + 0) })
      }),
    )
  })

  test('a whole amount with an ambiguous separator is read only if another amount shows the separator', () => {
    expect(readAmounts(['1.500', '2,50'])).toEqual({ kind: 'read', cents: [150_000, 250] })
    expect(readAmounts(['1,500', '2.50'])).toEqual({ kind: 'read', cents: [150_000, 250] })
    expect(readAmounts(['1,500'])).toEqual({ kind: 'read', cents: [undefined] })
    expect(readAmounts(['1.234.567'])).toEqual({ kind: 'read', cents: [123_456_700] })
    expect(readAmounts(['1500'])).toEqual({ kind: 'read', cents: [150_000] })
  })

  test.each(['', '-', '1.2.3', '12,34,56', '1.23.456,00', '0x10', '1e5', '--5', '(5', '5)', '(-5)', 'NaN', '٥'])(
    '%j is no amount',
    (text) => {
      expect(readAmounts([text])).toEqual({ kind: 'read', cents: [undefined] })
    },
  )
})

const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })

describe('dates', () => {
  test('every day is read back from each notation', () => {
    fc.assert(
      fc.property(day, (date) => {
        const iso = date.toISOString().slice(0, 10)
        const [year = '', month = '', dayOfMonth = ''] = iso.split('-')
        const read = (text: string, order: Parameters<typeof readDates>[1]) => readDates([text], order)
        const expected: DatesResult = { kind: 'read', dates: [iso] }
        expect(read(iso, 'detect')).toEqual(expected)
        expect(read(`${iso}T10:00:00Z`, 'detect')).toEqual(expected)
        expect(read(`${dayOfMonth}.${month}.${year}`, 'detect')).toEqual(expected)
        expect(read(`${Number(dayOfMonth)}.${Number(month)}.${year}`, 'detect')).toEqual(expected)
        expect(read(`${dayOfMonth}/${month}/${year}`, 'day-first')).toEqual(expected)
        expect(read(`${month}/${dayOfMonth}/${year}`, 'month-first')).toEqual(expected)
      }),
    )
  })

  test('a column of dates with slashes is read correctly or refused as ambiguous', () => {
    fc.assert(
      fc.property(fc.array(day, { minLength: 1, maxLength: 6 }), fc.boolean(), (days, isMonthFirst) => {
        const isos = days.map((date) => date.toISOString().slice(0, 10))
        const texts = isos.map((iso) => {
          const [year, month, dayOfMonth] = iso.split('-')
          return isMonthFirst ? `${month}/${dayOfMonth}/${year}` : `${dayOfMonth}/${month}/${year}`
        })
        const read = readDates(texts, 'detect')
        if (read.kind === 'read') expect(read.dates).toEqual(isos)
      }),
    )
  })
})
