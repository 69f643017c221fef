/**
 * Columns as Postgres array literals, for `unnest($1::text::bigint[], …)`: one statement and thirty parameters for
 * thousands of rows. Measured 2026-11: 45,000 to 53,000 records/s against 32,000 to 38,000 through json_to_recordset.
 */

/** `{1,NULL,true}`: numbers and booleans need no quotes. */
export function plainArray(values: readonly (number | boolean | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : value)).join(',')}}`
}

/** `{"a","b",NULL}`, escaped. NUL characters, which Postgres can't store in text, are left out. */
export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : quote(value))).join(',')}}`
}

const NEEDS_ESCAPE = /["\\\0]/
const NUL = String.fromCharCode(0)

function quote(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  return `"${text.replaceAll(NUL, '').replace(/["\\]/g, '\\$&')}"`
}
