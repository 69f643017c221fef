/** Runs one cell: a real client asks, the scripted provider answers, and everything anybody saw is held against the case. */
import type { Customer } from '@test/support/gateway'
import { until } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import { ZERO_USAGE } from '@/chat/usage'
import { type JsonValue, parseJson } from '@/lib/json'
import { CLIENTS } from './clients/index'
import type { LibraryView, Sent } from './clients/sending'
import { answerOf, costOf, differences, expectedBody, expectedSeen, noteOn, statusFor } from './expectation'
import type { MatrixGateway, Seat } from './lanes'
import { respondWith } from './provider'
import { READERS } from './read/index'
import type { Cell, CellResult, Seen, SeenUsage } from './types'

/** Words that stand for secrets in the fixtures, and must reach no client. */
const SECRET = /canary/i

/** Runs `cell` with one of `clients`; what is not as the case says comes back as complaints. */
export async function runCell(matrix: MatrixGateway, cell: Cell, clients = CLIENTS): Promise<CellResult> {
  const seat = matrix.seatOf(cell)
  const { accountId, key } = seat.customer
  const body = cell.case.asks[cell.client] ?? {}
  const calls = seat.script(() => respondWith(answerOf(cell.case, cell.provider), cell.provider, cell.mode !== 'json'))
  const before = await matrix.gateway.balance(accountId)
  const sent = await clients[cell.client].send({
    baseUrl: seat.baseUrl,
    key,
    model: seat.model,
    mode: cell.mode,
    body,
  })
  const after = await until(async () => {
    const balance = await matrix.gateway.balance(accountId)
    return balance.held === 0 && balance
  }, 'the hold to be settled')
  const costNano = after.spent - before.spent
  const complaints = [
    ...checkCalls(cell, calls, seat.customer),
    ...checkAnswer(cell, sent, seat, costNano),
    ...checkCost(cell, costNano, sent),
    ...(SECRET.test(sent.text) ? ['a secret of the provider reached the client'] : []),
  ]
  return { cell, complaints, costNano }
}

function checkCalls(cell: Cell, calls: readonly UpstreamCall[], { accountId, key }: Customer): string[] {
  const wanted = noteOn(cell).refused === undefined ? 1 : 0
  // A failure may be tried again.
  const isCounted = cell.case.fails === undefined || calls.length === 0
  if (isCounted && calls.length !== wanted) return [`the provider was called ${calls.length} times, not ${wanted}`]
  return calls.flatMap(({ headers, body }) => [
    ...(headers.values().toArray().join('\n').includes(key) ? ["the caller's key reached the provider"] : []),
    ...differences(expectedBody(cell, accountId), body).map((line) => `received ${line}`),
  ])
}

function checkAnswer(cell: Cell, sent: Sent, seat: Seat, costNano: number): string[] {
  const { refused, isRaw = false } = noteOn(cell)
  const { fails, failsInStream } = cell.case
  if (refused !== undefined) return checkError(cell, sent, 400, refused)
  if (fails) {
    const message = (cell.client === cell.provider ? fails.own : undefined) ?? fails.message
    return checkError(cell, sent, statusFor(cell.client, fails.status), message)
  }
  if (sent.status !== 200) return [`status ${sent.status}: ${sent.text.slice(0, 300)}`]
  const context = { model: seat.model, isRaw }
  const reader = READERS[cell.client]
  const reading =
    cell.mode === 'json' ? reader.readWhole(parseJson(sent.text), context) : reader.readStream(sent.text, context)
  const complaints = [...checkHeaders(cell, sent), ...reading.complaints]
  if (failsInStream) {
    const { error } = reading
    if (!error) return [...complaints, 'the stream ends without an error']
    if (!error.message.includes(failsInStream.message)) complaints.push(`the error says ${error.message}`)
    if (error.textBefore !== failsInStream.textBefore) complaints.push(`text before the error: ${error.textBefore}`)
    if (sent.view && sent.view.kind !== 'failed') complaints.push('the library saw no error')
    return complaints
  }
  if (reading.error) return [...complaints, `the stream fails: ${reading.error.message}`]
  const expected = expectedSeen(cell)
  const { usage } = answerOf(cell.case, cell.provider)
  // What the provider said of its usage in its own way is for the cost to prove; if it said nothing, what was charged is told.
  const isUsageTold = usage !== null && !isRaw
  if (!usage && !isRaw) complaints.push(...checkToldUsage(reading.seen.usage, costNano))
  const seen = isUsageTold ? reading.seen : { ...reading.seen, usage: expected.usage }
  return [
    ...complaints,
    ...differences(expected, seen).map((line) => `saw ${line}`),
    ...(isRaw ? [] : checkView(sent.view, expected)),
  ]
}

function checkToldUsage({ input, output, cacheRead }: SeenUsage, costNano: number): string[] {
  const told = costOf({ ...ZERO_USAGE, uncached: input - cacheRead, cacheRead, output })
  return told === costNano ? [] : [`told usage for ${told} nano-USD, where ${costNano} were charged`]
}

function checkError(cell: Cell, sent: Sent, status: number, message: string): string[] {
  if (sent.status !== status) return [`status ${sent.status}, not ${status}: ${sent.text.slice(0, 300)}`]
  const told = READERS[cell.client].readError(status, parseJson(sent.text) as JsonValue | undefined)
  if (told === undefined) return [`the error has not the shape of the format: ${sent.text}`]
  if (!told.includes(message)) return [`the error says: ${told}`]
  if (!sent.view) return []
  return sent.view.kind === 'failed' && sent.view.status === status ? [] : ['the library saw no such error']
}

function checkHeaders({ client, mode }: Cell, { headers }: Sent): string[] {
  const type = headers.get('content-type') ?? ''
  const wanted = mode === 'stream' ? 'text/event-stream' : 'application/json'
  const id = headers.get('x-request-id') ?? ''
  return [
    ...(type.startsWith(wanted) ? [] : [`${client} content-type is ${type}`]),
    ...(id.startsWith('req_') ? [] : [`x-request-id is ${id}`]),
  ]
}

function checkView(view: LibraryView | undefined, { text, calls, finish }: Seen): string[] {
  if (!view) return []
  if (view.kind === 'failed') return [`the library failed: ${view.message}`]
  return differences({ kind: 'answer', text, calls, finish }, view).map((line) => `the library saw ${line}`)
}

function checkCost(cell: Cell, costNano: number, { headers }: Sent): string[] {
  const { case: declared, provider, mode } = cell
  if (noteOn(cell).refused !== undefined || declared.fails) {
    return costNano === 0 ? [] : [`a failed request cost ${costNano} nano-USD`]
  }
  const { usage } = answerOf(declared, provider)
  if (declared.failsInStream || !usage) return costNano > 0 ? [] : ['an answer without usage was free']
  const complaints = costNano === costOf(usage) ? [] : [`it cost ${costNano} nano-USD, not ${costOf(usage)}`]
  const told = headers.get('x-svc-cost-usd')
  if (mode === 'json' && Math.round(Number(told) * 1e9) !== costNano) complaints.push(`x-svc-cost-usd is ${told}`)
  return complaints
}
