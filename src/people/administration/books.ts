/** The administrators' operations on the books, as JSON and as a file. They show cash, liability, revenue and margin by day or month. */
import { type Static, Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { BOOK_STEPS, type BookPeriod, bookPeriodOf } from '@/console/administration/books/book-period'
import { MOVEMENTS, type Movement } from '@/console/administration/books/book-rows'
import { booksFile, booksFileName, tellBooks } from '@/console/administration/books/tell-books'
import { DayText } from '@/console/http/pages'
import { CSV_FILE, fileAnswer } from '@/console/http/wire'
import { oneOf } from '@/lib/schemas'
import { streamTexts } from '@/lib/streams/stream-texts'
import { administrationOver, FileAnswer } from '@/people/operation'
import { type AdminDeps, MARGIN_SUMS, Usd } from './context'

const MARGIN = {
  ...MARGIN_SUMS,
  uncosted: Type.String({ description: 'USD charged where the cost is not known; in no margin' }),
}

const SIGNED: Readonly<Record<Movement, string>> = {
  purchases: 'Credit bought',
  grants: 'Credit added by operators without a payment here',
  testCredit: 'Movements of the simulated payment provider',
  reinstatements: 'Refunds and chargebacks that were undone',
  transfers: 'Between accounts: zero',
  corrections: 'Credit taken back by operators',
  refunds: 'Credit taken back for a refund',
  chargebacks: "Credit taken back by payers' banks",
  revenue: 'Charges of requests',
}

const Movements = Object.fromEntries(
  MOVEMENTS.map((name) => [
    name,
    Type.String({ description: `${SIGNED[name]}, USD, signed as it moves the liability` }),
  ]),
) as Record<Movement, ReturnType<typeof Type.String>>

const CashBody = Type.Object({
  way: Type.String({ examples: ['bank', 'manual', 'deposit:stripe'] }),
  currency: Type.String(),
  isTest: Type.Boolean({ description: 'Simulated: no cash' }),
  received: Type.String({ description: 'With tax' }),
  tax: Type.String(),
  refunded: Type.String({ description: 'Negative' }),
  chargedBack: Type.String({ description: 'Negative' }),
  reinstated: Type.String(),
})

const SUMS = {
  opening: Type.String({ description: 'Prepaid liability before, USD; with all movements it is `closing`' }),
  ...Movements,
  closing: Type.String({ description: 'Prepaid liability after, USD' }),
  ...MARGIN,
  cash: Type.Array(CashBody),
}

const BooksBody = Type.Object({
  by: oneOf(BOOK_STEPS),
  from: Type.String({ description: 'The first day, UTC' }),
  to: Type.String({ description: 'The last day, UTC' }),
  now: Type.Object(
    { liability: Usd, belowZero: Usd },
    { description: 'The sum of all balances now, and the part of balances below zero' },
  ),
  total: Type.Object(SUMS),
  models: Type.Array(Type.Object({ model: Type.String(), ...MARGIN })),
  periods: Type.Array(Type.Object({ period: Type.String({ examples: ['2026-11-03', '2026-11'] }), ...SUMS })),
})

const BooksQuery = Type.Object({
  by: Type.Optional(oneOf(BOOK_STEPS, { description: 'Default: day' })),
  from: Type.Optional(DayText),
  to: Type.Optional(DayText),
})

const operation = administrationOver<AdminDeps>()

const show = operation('books.show', 'GET /books', 'administrator', {
  summary: 'Get the books by day or month',
  description:
    'Cash, prepaid liability, revenue and margin. At most 366 days, or 120 whole months; without `from` and `to`, this month. For administrators.',
  takes: BooksQuery,
  gives: BooksBody,
  run: async ({ deps }, query) => tellBooks(await deps.administration.books(readPeriod(query))),
})

const file = operation('books.file', 'GET /books/csv', 'administrator', {
  summary: 'Get the books as CSV',
  description: 'One row for each period and line, with details by way of payment and model. For administrators.',
  takes: BooksQuery,
  gives: FileAnswer,
  file: CSV_FILE,
  async run({ deps }, query) {
    const books = await deps.administration.books(readPeriod(query))
    return fileAnswer(booksFileName(books), 'text/csv', streamTexts(booksFile(books)))
  },
})

export const BOOKS_ADMINISTRATION = [show, file] as const

function readPeriod(query: Static<typeof BooksQuery>): BookPeriod {
  const period = bookPeriodOf(query, Date.now())
  if ('fault' in period) throw invalidRequest(`${period.param}: ${period.fault}.`, period.param)
  return period
}
