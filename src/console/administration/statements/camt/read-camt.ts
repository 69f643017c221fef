/** Reads a CAMT.053 statement (ISO 20022, versions 02 and 08): each entry, or each payment of a batch, becomes a line. */
import {
  clean,
  faulty,
  keyOfContent,
  MAX_FAULTS,
  MAX_STATEMENT_LINES,
  type ReadStatementResult,
  type StatementLine,
} from '@/console/administration/statements/statement'
import { type Amount, allAt, readAmount, readDay, referenceAt, textAt } from './elements'
import { CamtFault, type Element, type Entry, parseEntries } from './parse-entries'

/** Parses XML with at most {@link MAX_STATEMENT_LINES} lines. Other requests run in between. */
export async function readCamt(text: string): Promise<ReadStatementResult> {
  const reading: Reading = { lines: [], faults: [], occurrences: new Map(), statement: 0, entries: 0 }
  try {
    await parseEntries(text, (entry) => readEntry(reading, entry))
  } catch (error) {
    if (error instanceof CamtFault) return faulty(error.message)
    throw error
  }
  const { lines, faults } = reading
  if (faults.length > 0) return { kind: 'faulty', faults }
  return lines.length > 0 ? { kind: 'read', format: 'camt.053', lines } : faulty('The statement has no bookings.')
}

type Reading = {
  lines: StatementLine[]
  faults: string[]
  /** Counts equal contents in the current statement, so that a repeated statement gives the same keys. */
  occurrences: Map<string, number>
  statement: number
  entries: number
}

/** The facts that all payments of an entry share. */
type Booking = { account: string; entry: Element; bookedOn: string; amount: Amount; isCredit: boolean }

function readEntry(reading: Reading, { statement, account, entry }: Entry): void {
  if (reading.statement !== statement) {
    reading.statement = statement
    reading.occurrences = new Map()
  }
  reading.entries++
  const bookedOn = readDay(allAt(entry, 'BookgDt')[0]) ?? readDay(allAt(entry, 'ValDt')[0])
  const amount = readAmount(allAt(entry, 'Amt')[0])
  const direction = textAt(entry, 'CdtDbtInd')
  const faults: string[] = []
  if (bookedOn === undefined) faults.push(`Entry ${reading.entries}: no day of booking.`)
  if (amount === undefined) faults.push(`Entry ${reading.entries}: the amount can't be read for certain.`)
  if (direction !== 'CRDT' && direction !== 'DBIT') faults.push(`Entry ${reading.entries}: neither credit nor debit.`)
  const room = MAX_FAULTS - reading.faults.length
  reading.faults.push(...faults.slice(0, room))
  if (bookedOn === undefined || amount === undefined || faults.length > 0) return
  const booking: Booking = {
    account: textAt(account, 'Id', 'IBAN') ?? textAt(account, 'Id', 'Othr', 'Id') ?? '',
    ...{ entry, bookedOn, amount, isCredit: direction === 'CRDT' },
  }
  const details = allAt(entry, 'NtryDtls', 'TxDtls')
  const amounts = details.length > 1 ? amountsOf(booking, details) : [amount]
  if (amounts === undefined) addLine(reading, booking, { exclusion: 'unclear_batch', amount })
  for (const [index, part] of (amounts ?? []).entries()) {
    addLine(reading, booking, { details: details[index], index, amount: part, isPart: details.length > 1 })
  }
}

/** The amounts of a batch's payments. Undefined if they differ from the entry in currency, direction or sum. */
function amountsOf({ entry, amount, isCredit }: Booking, details: readonly Element[]): Amount[] | undefined {
  const direction = textAt(entry, 'CdtDbtInd')
  const parts: Amount[] = []
  for (const detail of details) {
    const part = [['Amt'], ['AmtDtls', 'TxAmt', 'Amt'], ['AmtDtls', 'InstdAmt', 'Amt']]
      .map((path) => readAmount(allAt(detail, ...path)[0]))
      .find((found) => found?.currency === amount.currency)
    if (!part || (textAt(detail, 'CdtDbtInd') ?? direction) !== (isCredit ? 'CRDT' : 'DBIT')) return undefined
    parts.push(part)
  }
  return parts.reduce((sum, { cents }) => sum + cents, 0) === amount.cents ? parts : undefined
}

type Part = {
  details?: Element | undefined
  index?: number
  amount: Amount
  /** Whether the line is one of several payments of its entry. */
  isPart?: boolean
  exclusion?: StatementLine['exclusion']
}

function addLine(reading: Reading, booking: Booking, part: Part): void {
  const { lines } = reading
  if (lines.length >= MAX_STATEMENT_LINES) {
    throw new CamtFault(`The statement has more than ${MAX_STATEMENT_LINES} bookings.`)
  }
  const { entry, bookedOn, isCredit } = booking
  const { cents, currency } = part.amount
  const exclusion = exclusionOf(entry, part.details) ?? part.exclusion
  const facts = {
    ...{ bookedOn, amountCents: isCredit || cents === 0 ? cents : -cents, currency },
    reference: clean(textsOf(entry, part).map(clean).filter(Boolean).join(' ')),
    counterparty: clean(counterpartyOf(part.details, isCredit ? 'Dbtr' : 'Cdtr')),
  }
  const lineKey = keyOf(reading, booking, part, facts)
  lines.push({ line: lines.length + 1, lineKey, ...facts, ...(exclusion && { exclusion }) })
}

/** The reason to exclude an entry from crediting: it is not booked, or it is a reversal. A return reason also marks a reversal. */
function exclusionOf(entry: Element, details: Element | undefined): StatementLine['exclusion'] {
  if ((textAt(entry, 'Sts', 'Cd') ?? textAt(entry, 'Sts')) !== 'BOOK') return 'not_booked'
  const isReversal = ['true', '1'].includes(textAt(entry, 'RvslInd') ?? '')
  return isReversal || allAt(details, 'RtrInf').length > 0 ? 'reversal' : undefined
}

/** All texts that may contain an order's reference, the most reliable first. */
function textsOf(entry: Element, { details, isPart }: Part): string[] {
  const remittance = allAt(details, 'RmtInf')[0]
  const structured = allAt(remittance, 'Strd')
  const texts = [
    ...structured.flatMap((one) => allAt(one, 'CdtrRefInf', 'Ref')),
    ...allAt(remittance, 'Ustrd'),
    ...structured.flatMap((one) => [...allAt(one, 'RfrdDocInf', 'Nb'), ...allAt(one, 'AddtlRmtInf')]),
  ].map(({ text }) => text)
  const endToEnd = referenceAt(details, 'Refs', 'EndToEndId')
  if (endToEnd !== undefined) texts.push(endToEnd)
  const additional = textAt(details, 'AddtlTxInf')
  if (additional !== undefined) texts.push(additional)
  const ofEntry = isPart ? undefined : textAt(entry, 'AddtlNtryInf')
  if (ofEntry !== undefined) texts.push(ofEntry)
  return texts
}

/** The name of the other party. Version 08 of CAMT.053 has it inside the element `Pty`. */
function counterpartyOf(details: Element | undefined, party: 'Dbtr' | 'Cdtr'): string | undefined {
  const [parties] = allAt(details, 'RltdPties')
  const paths = [
    [party, 'Nm'],
    [party, 'Pty', 'Nm'],
    [`Ultmt${party}`, 'Nm'],
    [`Ultmt${party}`, 'Pty', 'Nm'],
  ]
  return paths.map((path) => textAt(parties, ...path)).find((name) => name !== undefined)
}

type Facts = Omit<StatementLine, 'line' | 'lineKey' | 'exclusion'>

/**
 * The bank's own reference identifies a payment, even if its texts differ in another version of the statement. If it is missing, the
 * key is made of the content, with all references of the sender.
 */
function keyOf({ occurrences }: Reading, { account, entry }: Booking, { details, index }: Part, facts: Facts): string {
  const { bookedOn, amountCents, currency, reference, counterparty } = facts
  const ofEntry = referenceAt(entry, 'AcctSvcrRef')
  const ofPayment = referenceAt(details, 'Refs', 'AcctSvcrRef')
  if (ofEntry !== undefined || ofPayment !== undefined) {
    const content = [account, ofEntry, ofPayment, index, bookedOn, amountCents, currency]
    return keyOfContent(content, new Map())
  }
  const sent = ['EndToEndId', 'TxId', 'UETR'].map((name) => referenceAt(details, 'Refs', name))
  return keyOfContent([account, bookedOn, amountCents, currency, reference, counterparty, sent], occurrences)
}
