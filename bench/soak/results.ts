/** What a soak leaves behind, and what is to be said of it. */
import { median } from '@bench/report/statistics'
import type { BooksReport } from './books'
import type { SoakReport } from './load'
import type { Sample } from './sample'

export type SoakResults = {
  at: string
  commit: string
  minutes: number
  ratePerSecond: number
  keys: number
  bun: string
  processor: string
  samples: Sample[]
  endings: SoakReport['endings']
  unexpected: SoakReport['unexpected']
  /** Descriptors of the gateway before the load, and when all had gone and the upstream with them. */
  descriptors: { before: number; after: number }
  /** Whether every client ended and nothing was left under way in the gateway. */
  isDrained: boolean
  books: BooksReport | undefined
}

/** One promise of a soak, how it was kept, in words. */
type Verdict = { promise: string; measured: string; isKept: boolean }

/** The pools of the stores open so many connections when they are first needed. */
const MAX_MORE_DESCRIPTORS = 16
const MAX_GROWTH = 0.05
const MAX_REFUSED_SHARE = 0.001
/** How those statuses end the words for an answer that should not have been. */
const COME_AGAIN = /: (503|529)$/
const PERCENT = 100

/** Judges a run that is over. */
export function verdictsOf(results: SoakResults): Verdict[] {
  const growth = growthOf(results.samples, 'residentBytes')
  const { before, after } = results.descriptors
  return [
    {
      promise: 'memory is flat: the last quarter at most 5 % above the second',
      measured: `${(growth * PERCENT).toFixed(1)} %`,
      isKept: growth <= MAX_GROWTH,
    },
    {
      promise: 'no descriptor is left',
      measured: `${before} before, ${after} after`,
      isKept: after > 0 && after <= before + MAX_MORE_DESCRIPTORS,
    },
    {
      promise: 'everything that began has ended',
      measured: results.isDrained ? 'no client, stream, hold or record under way' : 'something was left under way',
      isKept: results.isDrained,
    },
    { promise: 'the books are whole', ...booksVerdict(results.books) },
    {
      promise: 'no client had a wrong answer, and one in 1,000 at most was asked to come again',
      ...answerVerdict(results),
    },
  ]
}

/** A gateway that hears nothing of its store refuses rather than guesses: on a machine with other work that may happen. */
function answerVerdict(results: SoakResults): Omit<Verdict, 'promise'> {
  const all = Object.entries(results.unexpected)
  const wrong = all.filter(([answer]) => !COME_AGAIN.test(answer))
  const refused = all.filter(([answer]) => COME_AGAIN.test(answer)).reduce((sum, [, count]) => sum + count, 0)
  const sent = sentOf(results)
  return {
    measured: [...wrong.map(([answer, count]) => `${count} × ${answer}`), `${refused} of ${sent} refused for now`].join(
      ', ',
    ),
    isKept: wrong.length === 0 && refused <= sent * MAX_REFUSED_SHARE,
  }
}

function booksVerdict(books: BooksReport | undefined): Omit<Verdict, 'promise'> {
  if (!books) return { measured: 'not checked', isKept: false }
  const usd = (nano: number) => `${(nano / 1e9).toFixed(6)} USD`
  const sums = `${usd(books.paidIn)} paid in − ${usd(books.charged)} charged in ${books.records} records = ${usd(books.left)}`
  return { measured: books.isWhole ? sums : books.faults.slice(0, 3).join('; '), isKept: books.isWhole }
}

/** How much more of something there was in the last quarter than in the second, by their medians. */
export function growthOf(samples: readonly Sample[], name: keyof Sample): number {
  const quarter = (index: number) => {
    const part = samples.slice((samples.length * index) / 4, (samples.length * (index + 1)) / 4)
    return median(part.map((sample) => sample[name]).filter((value) => Number.isFinite(value)))
  }
  return quarter(3) / quarter(1) - 1
}

/** How many clients there were. */
export function sentOf({ endings }: Pick<SoakResults, 'endings'>): number {
  return Object.values(endings)
    .flatMap((byEnding) => Object.values(byEnding))
    .reduce((sum, count) => sum + count, 0)
}
