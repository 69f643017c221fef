/** Classifies a failed statement: wait for the database, retry at once, or fix the data. */
import { AssertionError } from '@/lib/assert'
import { messageOf } from '@/lib/error-text'
import { DatabaseTimeoutError } from './deadline'

/** `data`: can never be stored. `conflict`: retry at once. `unavailable`: any other failure; wait and retry. */
type DatabaseFailure = 'data' | 'conflict' | 'unavailable'

/** Classes 21 (a row twice in one statement), 22 (data exception) and 23 (integrity constraint) are caused by the values. */
const DATA_STATE = /^2[123]/
/** Serialization failure, deadlock, lock not available. */
const CONFLICT_STATES: ReadonlySet<string> = new Set(['40001', '40P01', '55P03'])

/** The class of `error`, thrown by a statement or while its parameters were built. */
export function databaseFailure(error: unknown): DatabaseFailure {
  if (error instanceof AssertionError) return 'data'
  const state = sqlState(error)
  if (state === undefined) return 'unavailable'
  if (DATA_STATE.test(state)) return 'data'
  return CONFLICT_STATES.has(state) ? 'conflict' : 'unavailable'
}

/** Whether `error` means that a unique constraint (named `constraint`, if given) refused a row. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const source = causeWithCode(error)
  if (source?.code !== '23505') return false
  return constraint === undefined || source.constraint_name === constraint
}

/** Whether `error` means that a row refers to a missing one. */
export function isForeignKeyViolation(error: unknown): boolean {
  return sqlState(error) === '23503'
}

/** No connection (08, and the driver's own codes), no resources (53), or a server that stops or starts (57P). */
const AWAY = /^(?!.{5}$)|^(08|53|57P)/

function isAway(error: unknown): boolean {
  const state = sqlState(error)
  return error instanceof DatabaseTimeoutError || (state !== undefined && AWAY.test(state))
}

/** Runs `task` for all items and sums the results. Throws the first failure at the end; at once if the database is unreachable. */
export async function sumApart<T>(items: Iterable<T>, task: (item: T) => Promise<number>): Promise<number> {
  let sum = 0
  const failures: unknown[] = []
  for (const item of items) {
    try {
      sum += await task(item)
    } catch (error) {
      if (isAway(error)) throw error
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return sum
}

/** A short text for status pages and logs, without the statement's parameters. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  const state = sqlState(error)
  const source = causeWithCode(error) ?? error
  return state === undefined ? messageOf(source) : `${state} ${source.message}`
}

function sqlState(error: unknown): string | undefined {
  return causeWithCode(error)?.code
}

/** Drizzle wraps the driver's error in one whose message contains the parameters; the cause is the driver's error. */
function causeWithCode(error: unknown): (Error & { code: string; constraint_name?: string }) | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error as Error & { code: string }
  return causeWithCode(error.cause)
}
