/** Reads a bank statement of any accepted format. The content decides which one it is, not the file's name. */
import { readCsv } from './read-csv'
import type { ReadStatementResult, StatementOptions } from './statement'

/** Parses `text`: XML as CAMT.053, anything else as CSV. The XML parser is loaded with the first XML statement. */
export async function readStatement(text: string, options: StatementOptions): Promise<ReadStatementResult> {
  if (!/^\uFEFF?\s*</.test(text)) return readCsv(text, options)
  const { readCamt } = await import('./camt/read-camt')
  return await readCamt(text)
}
