/** Fills a history: accounts with one key and one credit each, and records of the last 45 days that add up with every sum. */
import { connectDatabase, type Database } from '@/db/client'
import { print } from './print'

export type Size = { accounts: number; records: number }
export type Stores = { databaseUrl: string; redisUrl: string }
type Filled = { fillSeconds: number; bytesPerRecord: number; indexBytesPerRecord: number; databaseBytes: number }

const CHUNK = 250_000
const DAYS = 45

/** The id of the account of this number. */
export const accountIdOf = (number: number): string => `acct_${String(number).padStart(8, '0')}`
/** The id of its key. */
export const keyIdOf = (number: number): string => `key_${String(number).padStart(8, '0')}`

/** Fills an empty, migrated database. The server makes the rows itself, so that this takes minutes and not hours. */
export async function fillBooks({ databaseUrl }: Stores, { accounts, records }: Size): Promise<Filled> {
  const database = connectDatabase(databaseUrl, { maxConnections: 1, statementTimeoutMs: 0 })
  const startedMs = performance.now()
  const { sql } = database
  await sql`SET synchronous_commit = off`
  await sql`SELECT ensure_usage_partitions((now() - interval '3 months')::date, 6)`
  await insertAccounts(database, accounts)
  for (let first = 0; first < records; first += CHUNK) {
    await insertRecords(database, accounts, first, Math.min(first + CHUNK, records) - 1)
    print(`  ${first + CHUNK} records, ${Math.round((performance.now() - startedMs) / 1000)} s`)
  }
  await sum(database)
  for (const table of ['accounts', 'api_keys', 'usage_records', 'usage_daily', 'ledger_entries']) {
    await sql.unsafe(`VACUUM (ANALYZE) ${table}`)
  }
  await sql`CHECKPOINT`
  const [disk] = await sql<{ heap: number; indexes: number; database: number }[]>`
    SELECT sum(pg_table_size(inhrelid))::bigint AS heap, sum(pg_indexes_size(inhrelid))::bigint AS indexes,
      pg_database_size(current_database()) AS database
    FROM pg_inherits WHERE inhparent = 'usage_records'::regclass`
  await database.close()
  return {
    fillSeconds: (performance.now() - startedMs) / 1000,
    bytesPerRecord: (disk?.heap ?? 0) / records,
    indexBytesPerRecord: (disk?.indexes ?? 0) / records,
    databaseBytes: disk?.database ?? 0,
  }
}

/** Accounts numbered from zero, each with one key and one credit. */
export async function insertAccounts({ sql }: Database, count: number): Promise<void> {
  await sql`
    INSERT INTO accounts (id, name, email) SELECT 'acct_' || lpad(n::text, 8, '0'), 'Account ' || n, n || '@example.test'
    FROM generate_series(0, ${count}::int - 1) n`
  await sql`
    INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four)
    SELECT 'key_' || lpad(n::text, 8, '0'), 'acct_' || lpad(n::text, 8, '0'), 'key', encode(sha256(n::text::bytea), 'hex'),
      'svc-AbCd', 'wxyz' FROM generate_series(0, ${count}::int - 1) n`
  await sql`
    INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference)
    SELECT 'entry_' || n, 'acct_' || lpad(n::text, 8, '0'), 'credit', 1000000000000, 'fill'
    FROM generate_series(0, ${count}::int - 1) n`
  await sql`
    INSERT INTO credit_outbox (entry_id, account_id, amount_nano, created_at, applied_at, confirmed_at)
    SELECT id, account_id, amount_nano, created_at, created_at, created_at FROM ledger_entries`
}

/** Accounts are drawn at random, and later records have later times, as the flusher would have written them. */
async function insertRecords({ sql }: Database, accounts: number, first: number, last: number): Promise<void> {
  await sql`
    INSERT INTO usage_records (event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, settled_at, request_id,
      model, requested_model, provider, upstream_model, client_format, provider_format, uncached_tokens, cache_read_tokens,
      cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, rule, flags, stream, status, attempts,
      started_at, first_token_ms, duration_ms, tags, app)
    SELECT id, id, 'acct_' || owner, 'key_' || owner, 'settle', 1000 + n % 100000, 500000, n + 1, at, id,
      'svc/model-' || n % 4, 'auto-smart', 'provider' || n % 3, 'upstream-2026-01', 'chat-completions', 'messages',
      n % 5000, n % 700, 0, 0, n % 900, 0, 'usage', '{}', true, 200, 1, at - interval '2 seconds', 300, 2000,
      ARRAY['env=prod', 'team=' || n % 20], 'App ' || n % 5
    FROM (SELECT n, 'req_' || md5(n::text) AS id, lpad(floor(random() * ${accounts}::int)::int::text, 8, '0') AS owner,
      now() - make_interval(secs => ${DAYS}::int * 86400 * (1 - n / 5000001.0)) AS at
      FROM generate_series(${first}::int, ${last}::int) n) AS made`
}

async function sum({ sql }: Database): Promise<void> {
  await sql`
    INSERT INTO usage_daily (account_id, day, key_id, model, requests, errors, uncached_tokens, cache_read_tokens,
      cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano, duration_ms, first_token_ms,
      first_token_count)
    SELECT account_id, (settled_at AT TIME ZONE 'UTC')::date, key_id, model, count(*), 0, sum(uncached_tokens),
      sum(cache_read_tokens), 0, 0, sum(output_tokens), 0, sum(cost_nano), sum(duration_ms), sum(first_token_ms), count(*)
    FROM usage_records GROUP BY 1, 2, 3, 4`
  await sql`
    UPDATE accounts a SET spent_nano = coalesce(d.cost, 0), balance_nano = 1000000000000 - coalesce(d.cost, 0),
      ledger_seq = 10000000
    FROM accounts b LEFT JOIN (SELECT account_id, sum(cost_nano) AS cost FROM usage_daily GROUP BY 1) d
      ON d.account_id = b.id WHERE a.id = b.id`
}
