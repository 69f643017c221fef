/** The operator command that prints the books: cash, prepaid liability, revenue and margin by day or month. */
import { BOOK_STEPS, bookPeriodOf, daysOfMonth } from '@/console/administration/books/book-period'
import { readBooks } from '@/console/administration/books/read-books'
import { booksFile, tellBooks } from '@/console/administration/books/tell-books'
import { type Command, flag, GIVEN, optional, type Values } from './command'
import { fail } from './failure'
import { readChoice } from './values'

export const BOOKS_COMMANDS: readonly Command[] = [
  {
    words: 'books',
    help: 'cash, prepaid liability, revenue and margin by day or month, in UTC and USD; this month where nothing is said',
    options: {
      month: optional('YYYY-MM', 'the days of this month'),
      by: optional(BOOK_STEPS.join('|'), 'what a row is; day where left out'),
      from: optional('DAY', 'the first day, such as 2026-11-01'),
      to: optional('DAY', 'the last day; today where left out'),
      csv: flag('as CSV, with details by way of payment and model'),
    },
    prepare(values) {
      const period = bookPeriodOf({ by: readChoice(values, 'by', BOOK_STEPS), ...readDays(values) }, Date.now())
      if ('fault' in period) return fail(`--${period.param} ${period.fault}`)
      const isCsv = values.csv === GIVEN
      return async ({ database }) => {
        const books = await readBooks(database, period)
        return { output: tellBooks(books), ...(isCsv && { text: [...booksFile(books)].join('') }) }
      }
    },
  },
]

function readDays({ month, from, to }: Values) {
  if (month === undefined) return { from, to }
  if (from !== undefined || to !== undefined) return fail('--month stands for --from and --to; say one of them')
  return daysOfMonth(month) ?? fail('--month must be a month such as 2026-11')
}
