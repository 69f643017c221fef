import { drizzle } from 'drizzle-orm/postgres-js'
import postgres, { type Options, type PostgresType, type Sql } from 'postgres'
import * as alertSchema from './alert-schema'
import * as archiveSchema from './archive-schema'
import * as authSchema from './auth-schema'
import * as mailSchema from './mail-schema'
import * as managementSchema from './management-schema'
import * as ordersSchema from './orders-schema'
import * as historySchema from './schema'

const schema = {
  ...historySchema,
  ...archiveSchema,
  ...authSchema,
  ...ordersSchema,
  ...mailSchema,
  ...managementSchema,
  ...alertSchema,
}

type DatabaseOptions = {
  maxConnections?: number
  /** The server cancels a statement after this time; 0 = never. */
  statementTimeoutMs?: number
  /** Timeout of opening a connection. On a busy machine that takes seconds. */
  connectTimeoutMs?: number
  /** Shown in pg_stat_activity. */
  applicationName?: string
  /** Called after every statement: with the milliseconds that its caller waited (including for a connection), and the error. */
  onStatement?: StatementListener
}

/** `error` is undefined if the statement succeeded. Must not throw. */
type StatementListener = (milliseconds: number, error: unknown) => void

export type PoolState = {
  busy: number
  idle: number
  connecting: number
  waiting: number
}

const DEFAULTS = {
  maxConnections: 10,
  statementTimeoutMs: 10_000,
  connectTimeoutMs: 15_000,
  applicationName: 'gateway',
} satisfies Required<Omit<DatabaseOptions, 'onStatement'>>

/** How long `close` waits for running statements before it cuts their connections, in seconds. */
const CLOSE_TIMEOUT_SECONDS = 5
/** A lost connection is reopened after 50 to 250 ms. The driver's default pause grows to 20 s, long after the server is back. */
const RECONNECT_MIN_SECONDS = 0.05
const RECONNECT_SPREAD_SECONDS = 0.2
/** Ends a transaction whose client hangs, so that it doesn't hold its locks for ever. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000

export type Database = ReturnType<typeof connectDatabase>
export type Transaction = Parameters<Parameters<Database['db']['transaction']>[0]>[0]

/**
 * The connection to Postgres: one pool with all limits, for SQL and for drizzle. Opens a pool; connections are made when the first
 * statement runs. Amounts (`bigint`) are read as numbers and asserted to be exact; dates are read as text if the statement selects text.
 * Statements reject while Postgres is unreachable. Callers that must not wait for a hung server use `withDatabaseDeadline`.
 */
export function connectDatabase(url: string, options: DatabaseOptions = {}) {
  const { maxConnections, statementTimeoutMs, connectTimeoutMs, applicationName } = { ...DEFAULTS, ...options }
  let closedConnections = 0
  const sql = postgres(url, {
    max: maxConnections,
    connect_timeout: connectTimeoutMs / 1000,
    idle_timeout: 60,
    backoff: () => RECONNECT_MIN_SECONDS + Math.random() * RECONNECT_SPREAD_SECONDS,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => void closedConnections++,
    // Called by our patch of the driver.
    ...(options.onStatement && { onquery: timed(options.onStatement) }),
    connection: {
      application_name: applicationName,
      TimeZone: 'UTC',
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
    types: { bigint: SAFE_BIGINT },
  } as Options<{ bigint: PostgresType<number> }>) as unknown as Sql
  return {
    /** postgres.js: tagged templates with bound parameters. */
    sql,
    db: drizzle(sql, { schema }),
    pool: (): PoolState => (sql as unknown as { pool(): PoolState }).pool(),
    /** Connections closed since this pool was opened, because of errors or because they were idle. */
    closedCount: () => closedConnections,
    maxConnections,
    /** Ends the pool; running statements get {@link CLOSE_TIMEOUT_SECONDS} (or `timeoutSeconds`) and are then cut. */
    close: (timeoutSeconds = CLOSE_TIMEOUT_SECONDS): Promise<void> => sql.end({ timeout: timeoutSeconds }),
  }
}

type Statement = { resolve(value: unknown): void; reject(error: unknown): void }

/** Returns a function to call when a statement begins; it calls `listener` when the statement ends. */
function timed(listener: StatementListener): (statement: Statement) => void {
  return (statement) => {
    const startedMs = performance.now()
    const { resolve, reject } = statement
    statement.resolve = (value) => {
      listener(performance.now() - startedMs, undefined)
      resolve(value)
    }
    statement.reject = (error) => {
      listener(performance.now() - startedMs, error)
      reject(error)
    }
  }
}

const INT8_OID = 20

const SAFE_BIGINT: PostgresType<number> = {
  to: INT8_OID,
  from: [INT8_OID],
  serialize: (value: number) => String(value),
  parse: (text: string) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw new Error(`bigint beyond 2^53: ${text}`)
    return value
  },
}
