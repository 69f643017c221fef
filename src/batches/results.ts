/** Results of a batch, read in pages, and as the lines of OpenAI's output and error files. */
import type { Fragment, Sql } from 'postgres'
import { textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { nano } from '@/lib/money'
import type { EndedState, LineResult } from './types'

/** Lines to read with one query, and the bytes after which a page ends. */
const PAGE_LINES = 500
const PAGE_BYTES = 1024 * 1024

/** SQL for the text before the answer in a line of a results file. `tail` is the text after it: an error if the line never ran. */
function head(sql: Sql): Fragment {
  return sql`'{"id":"batch_req_' || substr(md5(batch_id || ':' || place), 1, 24) || '","custom_id":' || to_json(custom_id)::text
    || CASE WHEN status IS NULL THEN ',"response":' ELSE
      ',"response":{"status_code":' || status || ',"request_id":"' || coalesce(request_id, '') || '","body":' END`
}

const EXPIRED = '{"code":"batch_expired","message":"The batch ended before this request ran."}'

function tail(sql: Sql): Fragment {
  return sql`CASE WHEN status IS NULL THEN ${`,"error":${EXPIRED}}`} ELSE '},"error":null}' END`
}

/** The size of an output or error file, computed without reading the answers. */
export function fileBytes(sql: Sql, batchId: string, states: Fragment): Fragment {
  const size = sql`octet_length(${head(sql)}) + octet_length(${tail(sql)}) + coalesce(octet_length(result), 4) + 1`
  return sql`(SELECT coalesce(sum(${size}), 0) FROM batch_lines WHERE batch_id = ${batchId} AND state IN ${states})`
}

/** The text of a file of results, in pieces. */
export async function* readResultText(
  { sql }: Database,
  batchId: string,
  isErrors: boolean,
): AsyncGenerator<Uint8Array> {
  const states = isErrors ? sql`('errored', 'expired')` : sql`('succeeded')`
  const line = sql`${head(sql)} || coalesce(result, 'null') || ${tail(sql)} || chr(10)`
  const pages = pagesOf<{ place: number; text: string }>(sql, batchId, states, sql`${line} AS text`)
  for await (const page of pages) yield Buffer.from(page.map(({ text }) => text).join(''))
}

type Row = Omit<LineResult, 'cost'> & { cost: number }

/** The results of ended lines in the order of the batch. A page is bounded in bytes, so memory never holds all of them. */
export async function* readResults(
  { sql }: Database,
  batchId: string,
  states: readonly EndedState[],
): AsyncGenerator<LineResult[]> {
  const fields = sql`custom_id AS "customId", state, status, request_id AS "requestId", result AS body,
    cost_nano::bigint AS cost`
  const wanted = sql`(SELECT unnest(${textArray([...states])}::text::text[]))`
  for await (const page of pagesOf<Row>(sql, batchId, wanted, fields))
    yield page.map((row) => ({ ...row, cost: nano(row.cost) }))
}

async function* pagesOf<T extends { place: number }>(
  sql: Sql,
  batchId: string,
  states: Fragment,
  fields: Fragment,
): AsyncGenerator<T[]> {
  for (let from = 0; ; ) {
    const rows = (await sql`
      WITH near AS (
        SELECT place, sum(coalesce(octet_length(result), 0)) OVER (ORDER BY place) - coalesce(octet_length(result), 0) AS before
        FROM (
          SELECT place, result FROM batch_lines WHERE batch_id = ${batchId} AND place >= ${from} AND state IN ${states}
          ORDER BY place LIMIT ${PAGE_LINES}
        ) sized
      )
      SELECT place, ${fields} FROM batch_lines JOIN near USING (place)
      WHERE batch_id = ${batchId} AND near.before < ${PAGE_BYTES} ORDER BY place`) as unknown as T[]
    const last = rows.at(-1)
    if (!last) return
    yield rows
    from = last.place + 1
  }
}
