/** Exports an account's records as CSV or JSON lines of any length, page by page as fast as the client reads, in constant memory. */
import type { UnitCount } from '@/chat/units'
import type { SeenName } from '@/db/usage-columns'
import { toolsCost } from '@/ledger/usage-record'
import { type CsvCell, csvRow } from '@/lib/csv'
import { formatUsd } from '@/lib/money'
import { ReaderWatch } from '@/lib/streams/reader-watch'
import {
  type ListedRecord,
  type RecordPosition,
  SEEN_COLUMNS,
  type SeenKind,
  type ToldRecord,
  tellRecord,
} from './listed-record'
import type { SearchOptions, SearchPage } from './record-search'

/** Records per page: some hundred kilobytes of text. Between pages no connection is in use, even if the client is slow. */
const PAGE_SIZE = 1_000

type RecordFormat = { start: string; rowOf(record: ListedRecord): string }

/**
 * The file as a stream; nothing is read before the client reads. `onEnd` is called once: at the end, with the error if it failed, when the
 * client disconnects, or when it has read nothing for `unreadMs` (a minute). An error breaks the stream off, so that the client sees that
 * the file is incomplete.
 */
export function exportRecords(
  readPage: (page: SearchOptions) => Promise<SearchPage>,
  { start: beginning, rowOf }: RecordFormat,
  onEnd: (failure?: unknown) => void,
  unreadMs?: number,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let reading: ReaderWatch | undefined
  let position: RecordPosition | undefined
  let text = beginning
  let isLeft = false

  let hasEnded = false

  function end(failure?: unknown): void {
    reading?.stop()
    if (!hasEnded) onEnd(failure)
    hasEnded = true
  }

  function start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    reading = new ReaderWatch(() => {
      cancel()
      controller.error(new Error('the client takes nothing'))
    }, unreadMs)
  }

  /** Reads until there is a chunk to send. Without a chunk, the runtime doesn't ask the stream again. */
  async function readOn(): Promise<{ isWhole: boolean }> {
    do {
      const page = await readPage({ after: position, limit: PAGE_SIZE })
      text += page.records.map(rowOf).join('')
      if (!page.next) return { isWhole: true }
      position = page.next
    } while (text === '' && !isLeft)
    return { isWhole: false }
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    reading?.asked()
    try {
      const { isWhole } = await readOn()
      if (isLeft) return
      reading?.given()
      if (text !== '') controller.enqueue(encoder.encode(text))
      text = ''
      if (!isWhole) return
      end()
      controller.close()
    } catch (error) {
      end(error)
      controller.error(error)
    }
  }

  function cancel(): void {
    isLeft = true
    end()
  }

  return new ReadableStream<Uint8Array>({ start, pull, cancel }, { highWaterMark: 0 })
}

const COLUMNS = SEEN_COLUMNS.map(({ name, seen, ...column }) => ({ ...column, heading: seen.heading ?? name }))
const HEADINGS = [...COLUMNS.map(({ heading }) => heading), 'key_name', 'tool_uses', 'tools_cost_usd', 'units']

function toCsvRow(record: ListedRecord): string {
  const told = tellRecord(record)
  const uses = record.tools.map((tool) => `${tool.name} ${tool.uses}`).join(', ')
  return csvRow([
    ...COLUMNS.map(({ property, kind }) => cellOf(kind, told[property])),
    record.keyName,
    uses,
    { decimal: formatUsd(toolsCost(record.tools)) },
    (record.usage.units ?? []).map(unitText).join(', '),
  ])
}

/** The text of a unit count, such as `output_image image 2 (1024x1024)`. */
function unitText({ billable, unit, variant, count }: UnitCount): string {
  return `${billable} ${unit} ${count}${variant === undefined ? '' : ` (${variant})`}`
}

function cellOf(kind: SeenKind, told: ToldRecord[SeenName]): CsvCell {
  if (Array.isArray(told)) return told.join(' ')
  return kind === 'amount' ? { decimal: String(told) } : told
}

/** Fields have the names of the CSV's columns. Money is decimal text, as in the CSV. */
function toJsonLine(record: ListedRecord): string {
  const told = tellRecord(record)
  const fields = COLUMNS.map(({ heading, property }) => [heading, told[property]])
  return `${JSON.stringify({
    ...Object.fromEntries(fields),
    key_name: record.keyName,
    tool_uses: record.tools.map(({ name, uses }) => ({ name, uses })),
    tools_cost_usd: formatUsd(toolsCost(record.tools)),
    units: record.usage.units ?? [],
  })}\n`
}

export const EXPORT_FORMATS = {
  csv: { start: csvRow(HEADINGS), rowOf: toCsvRow },
  jsonl: { start: '', rowOf: toJsonLine },
} satisfies Record<string, RecordFormat>
export type ExportFormat = keyof typeof EXPORT_FORMATS
