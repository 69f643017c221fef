/** The connection to Postgres: one pool with limits on everything, as SQL and as drizzle. */
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres, { type Options, type PostgresType, type Sql } from 'postgres'
import * as alertSchema from './alert-schema'
import * as archiveSchema from './archive-schema'
import * as authSchema from './auth-schema'
import * as mailSchema from './mail-schema'
import * as managementSchema from './management-schema'
import * as ordersSchema from './orders-schema'
import * as historySchema from './schema'

/** Every table. */
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
  /** Connections of this pool; opened when they are needed. */
  maxConnections?: number
  /** The server ends a statement after this time; 0 = never. */
  statementTimeoutMs?: number
  /** The longest that opening one connection may take. A machine that has much to do takes seconds. */
  connectTimeoutMs?: number
  /** Shown in pg_stat_activity. */
  applicationName?: string
  /** Told of every statement that has ended: how long its caller waited, a connection included, in milliseconds, and why it failed. */
  onStatement?: StatementListener
}

/** `error` is undefined if the statement did what was asked. Must not throw. */
type StatementListener = (milliseconds: number, error: unknown) => void

/** What a pool is doing now. */
export type PoolState = {
  /** Connections with a statement or a transaction under way. */
  busy: number
  /** Connections that are open and have nothing to do. */
  idle: number
  connecting: number
  /** Statements that no connection has taken yet. */
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
/** A lost connection is opened again after 50 to 250 ms: the driver's own pause grows to 20 s, long after the server is back. */
const RECONNECT_MIN_SECONDS = 0.05
const RECONNECT_SPREAD_SECONDS = 0.2
/** A transaction whose client hangs must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000

export type Database = ReturnType<typeof connectDatabase>
/** What drizzle hands to the body of a transaction; it reads and writes as `db` does. */
export type Transaction = Parameters<Parameters<Database['db']['transaction']>[0]>[0]

/**
 * Opens a pool; no connection is made before the first statement. Amounts (`bigint`) are read as numbers and asserted to be
 * exact, dates as text where the statement asks for text. Statements reject while Postgres is unreachable: callers that may
 * not wait for a hung server use `withDatabaseDeadline`.
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
    // Our patch of the driver calls it.
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
    /** postgres.js: tagged templates, parameters always bound. */
    sql,
    db: drizzle(sql, { schema }),
    /** Connections and statements of this moment. */
    pool: (): PoolState => (sql as unknown as { pool(): PoolState }).pool(),
    /** Connections that have ended since this pool was opened, be it that they were lost or had nothing to do. */
    closedCount: () => closedConnections,
    maxConnections,
    /** Ends the pool; running statements get {@link CLOSE_TIMEOUT_SECONDS} (or `timeoutSeconds`) and are then cut. */
    close: (timeoutSeconds = CLOSE_TIMEOUT_SECONDS): Promise<void> => sql.end({ timeout: timeoutSeconds }),
  }
}

/** A statement of the driver, as far as it tells its caller how it went. */
type Statement = { resolve(value: unknown): void; reject(error: unknown): void }

/** Has `listener` told when a statement ends; to be called when one begins. */
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
