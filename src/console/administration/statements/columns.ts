export type StatementColumns = {
  date: number
  /** Column of the amount. The amount has a sign unless the column `debitOrCredit` has the direction. */
  amount: number | undefined
  /** `credit` and `debit`: separate columns for incoming and outgoing money. */
  credit: number | undefined
  debit: number | undefined
  debitOrCredit: number | undefined
  currency: number | undefined
  /** All columns that may contain a reference, in file order. */
  references: number[]
  counterparty: number | undefined
}

/** Headers in order of preference: `booking date` before `value date`. */
const HEADERS = {
  date: [
    'booking date',
    'transaction date',
    'date',
    'posting date',
    'completed date',
    'date completed',
    'value date',
    'buchungstag',
    'buchungsdatum',
    'datum',
    'buchung',
    'wertstellung',
    'valuta',
    'valutadatum',
    'wertstellungsdatum',
  ],
  amount: [
    'amount',
    'transaction amount',
    'net amount',
    'betrag',
    'umsatz',
    'betrag in eur',
    'betrag (eur)',
    'betrag (€)',
    'amount (usd)',
    'amount (eur)',
    'betrag in usd',
    'betrag (usd)',
  ],
  credit: ['credit', 'credit amount', 'paid in', 'money in', 'deposit', 'deposits', 'haben', 'gutschrift', 'eingang'],
  debit: [
    'debit',
    'debit amount',
    'paid out',
    'money out',
    'withdrawal',
    'withdrawals',
    'soll',
    'lastschrift',
    'ausgang',
  ],
  debitOrCredit: [
    'soll/haben',
    'soll-haben',
    's/h',
    'sh',
    'debit/credit',
    'credit/debit',
    'dr/cr',
    'cr/dr',
    'credit debit indicator',
  ],
  currency: ['currency', 'ccy', 'transaction currency', 'währung', 'waehrung', 'whg', 'whrg', 'devise'],
  references: [
    'reference',
    'payment reference',
    'customer reference',
    'end-to-end reference',
    'end to end reference',
    'description',
    'details',
    'transaction details',
    'memo',
    'narrative',
    'purpose',
    'remittance information',
    'text',
    'message',
    'note',
    'verwendungszweck',
    'verwendungszweck zeile 1',
    'verwendungszweck zeile 2',
    'zweck',
    'buchungstext',
    'referenz',
    'kundenreferenz',
    'kundenreferenz (end-to-end)',
    'ende-zu-ende-referenz',
    'beschreibung',
    'mitteilung',
    'vorgang',
  ],
  counterparty: [
    'counterparty',
    'counterparty name',
    'name',
    'payer',
    'payer name',
    'sender',
    'from',
    'payee',
    'beneficiary',
    'partner name',
    'auftraggeber',
    'auftraggeber/empfänger',
    'beguenstigter/zahlungspflichtiger',
    'zahlungspflichtige*r',
    'begünstigter/zahlungspflichtiger',
    'name zahlungsbeteiligter',
    'zahlungsbeteiligter',
    'empfänger',
    'absender',
    'auftraggeber / begünstigter',
    'auftraggeber/begünstigter',
  ],
} as const satisfies Record<keyof StatementColumns, readonly string[]>

/** Finds the columns of a bank statement by their usual headers (English, German); undefined if date, amount or reference is missing. */
export function findColumns(headers: readonly string[]): StatementColumns | undefined {
  const names = headers.map(normalise)
  const first = (wanted: readonly string[]): number | undefined => {
    const hit = wanted.find((name) => names.includes(name))
    return hit === undefined ? undefined : names.indexOf(hit)
  }
  const references = names.flatMap((name, index) => (isOneOf(HEADERS.references, name) ? [index] : []))
  const date = first(HEADERS.date)
  const amount = first(HEADERS.amount)
  const credit = first(HEADERS.credit)
  if (date === undefined || (amount === undefined && credit === undefined) || references.length === 0) return undefined
  return {
    date,
    amount,
    credit,
    debit: first(HEADERS.debit),
    debitOrCredit: first(HEADERS.debitOrCredit),
    currency: first(HEADERS.currency),
    references,
    counterparty: first(HEADERS.counterparty),
  }
}

function normalise(header: string): string {
  return header
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\s+/g, ' ')
    .replace(/[:*]+$/, '')
    .trim()
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name)
}
