/** What a search for usage records is made of: looks that are each bounded, whatever there is to look at. */
import type { RecordPosition, RecordRow } from './listed-record'

/** What one look found, and from where to go on; `rest` is null where nothing can follow. */
export type SearchStep = { rows: RecordRow[]; rest: RecordPosition | null }

/** Looks behind `from` (undefined: at the newest) for at most `wanted` records, 1 or more. */
export type TakeStep = (from: RecordPosition | undefined, wanted: number) => Promise<SearchStep>
