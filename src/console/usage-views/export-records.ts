/** An account's records as a CSV file of any length: read page by page as fast as the client takes it, in constant memory. */
import type { Database } from '@/db/client'
import { toolsCost } from '@/ledger/usage-record'
import { formatUsd } from '@/lib/money'
import { csvRow } from './csv-text'
import type { ListedRecord, RecordPosition } from './listed-record'
import { searchRecords } from './record-search'
import type { UsageFilter } from './usage-filter'

/** Records per page: some hundred kilobytes of text. No connection is held between pages, however slow the client. */
const PAGE_SIZE = 1_000

/**
 * The file's bytes; its first row names the columns. Nothing is read before somebody reads the stream: then `onBegin` is
 * called, and what it returns once the file has ended, with the failure where one ended it. Where the client goes away, the reading ends. A
 * failure in the middle breaks the stream off, so that the client sees that the file isn't whole.
 */
export function exportRecords(
  database: Database,
  filter: UsageFilter,
  onBegin: () => (failure?: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let onEnd: ((failure?: unknown) => void) | undefined
  let position: RecordPosition | undefined
  let text = csvRow(HEADINGS)
  let isLeft = false

  function end(failure?: unknown): void {
    onEnd?.(failure)
    onEnd = () => {}
  }

  /** Reads on until there is something to send: a stream is asked for more only after it got something. */
  async function readOn(): Promise<{ isWhole: boolean }> {
    do {
      const page = await searchRecords(database, filter, { after: position, limit: PAGE_SIZE })
      text += page.records.map(toRow).join('')
      if (!page.next) return { isWhole: true }
      position = page.next
    } while (text === '' && !isLeft)
    return { isWhole: false }
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    onEnd ??= onBegin()
    try {
      const { isWhole } = await readOn()
      if (isLeft) return
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

  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
}

const HEADINGS = [
  ...['time_utc', 'request_id', 'record_id', 'kind', 'key_id', 'key_name', 'model_requested', 'model', 'provider'],
  ...['status', 'stream', 'attempts', 'billing_rule', 'flags', 'input_tokens', 'cache_read_tokens'],
  ...['cache_write_5m_tokens', 'cache_write_1h_tokens', 'output_tokens', 'reasoning_tokens', 'cost_usd', 'held_usd'],
  ...['first_token_ms', 'duration_ms', 'route_reason', 'tool_uses', 'tools_cost_usd'],
]

function toRow(record: ListedRecord): string {
  const { usage } = record
  const request = [new Date(record.atMs).toISOString(), record.requestId, record.recordId, record.kind]
  const route = [record.keyId, record.keyName, record.requestedModel, record.model, record.provider]
  const outcome = [record.status, record.stream, record.attempts, record.rule, record.flags.join(' ')]
  const input = [usage.uncached, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h]
  const amounts = [{ decimal: formatUsd(record.cost) }, { decimal: formatUsd(record.held) }]
  const times = [record.firstTokenMs, record.durationMs, record.routeReason]
  const output = [usage.output, usage.reasoning]
  const uses = record.tools.map((tool) => `${tool.name} ${tool.uses}`).join(', ')
  const tools = [uses, { decimal: formatUsd(toolsCost(record.tools)) }]
  return csvRow([...request, ...route, ...outcome, ...input, ...output, ...amounts, ...times, ...tools])
}
