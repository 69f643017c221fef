/** Creates a message batch while its body is read: requests are checked and written one by one. If one is invalid, none is kept. */
import type { Batch, NewLine } from '@/batches/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import { checkHeaders, tooLarge, unreadable } from '@/http/body'
import { clientAddress } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import type { Allowed } from '@/ledger/allowed'
import type { Payer } from '@/ledger/outcomes'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { SplitError, type SplitFault, splitList } from '@/lib/json-source/list-splitter'
import { ownTurn } from '@/lib/wait/own-turn'
import { checkLine } from './check-line'
import { type LineFault, parseLine } from './input-lines'
import { keptHeaders } from './kept-headers'

export const MAX_BATCH_BYTES = 256 * 1024 * 1024
export const MAX_BATCH_REQUESTS = 100_000
const ENDPOINT = '/v1/messages'
const CUSTOM_ID = /^[\w-]{1,64}$/
/** After this many bytes, other requests get a turn at the event loop. */
const TURN_BYTES = 64 * 1024
/** Maximum faults to report. Reading stops after them. */
const MAX_FAULTS = 10

/** Creates the batch of `request`, whose caller has an active key. Throws one `invalid_request` with the first faults of its requests. */
export async function createMessageBatch(
  deps: HttpDeps,
  request: Request,
  payer: Payer,
  { allowedModels, allowedProviders, dataRules }: Allowed,
): Promise<Batch> {
  const announced = checkHeaders(request.headers, MAX_BATCH_BYTES, 'application/json')
  await deps.unpaid.admitFree(payer)
  await deps.batches.requireRoom(payer.accountId, announced ?? 0)
  const body = new CountedBody(request)
  const batch = {
    ...{ payer, endpoint: ENDPOINT, headers: keptHeaders(request.headers), idPrefix: 'msgbatch' as const },
    clientAddress: clientAddress(request, deps.trustedProxyHops),
  }
  try {
    return await deps.batches.create(
      batch,
      new RequestReader(deps, { allowedModels, allowedProviders, dataRules }).lines(body),
    )
  } catch (error) {
    deps.unpaid.refused(payer, error, body.bytes)
    throw error
  }
}

/** Counts the bytes of a body as they arrive, and refuses more than the limit. */
class CountedBody {
  bytes = 0

  constructor(private readonly request: Request) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.request.body ?? []) {
        this.bytes += chunk.length
        if (this.bytes > MAX_BATCH_BYTES) throw tooLarge(MAX_BATCH_BYTES)
        yield chunk
      }
    } catch (cause) {
      throw unreadable(this.request, cause)
    }
  }
}

class RequestReader {
  private readonly faults: LineFault[] = []
  private readonly customIds = new Set<string>()
  private place = 0
  private bytesInTurn = 0

  constructor(
    private readonly deps: HttpDeps,
    private readonly allowed: Allowed,
  ) {}

  /** The lines of the batch. Throws if a request is invalid, with at most {@link MAX_FAULTS} faults. */
  async *lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<NewLine> {
    try {
      for await (const entry of splitList(body, 'requests', this.deps.maxBodyBytes)) {
        if (this.place >= MAX_BATCH_REQUESTS) throw tooMany()
        const line = await this.read(entry)
        if (this.faults.length >= MAX_FAULTS) break
        if (line && this.faults.length === 0) yield line
        this.place++
      }
    } catch (error) {
      if (!(error instanceof SplitError)) throw error
      if (this.faults.length === 0) throw unsplit(error, this.deps.maxBodyBytes)
    }
    if (this.place === 0 && this.faults.length === 0) throw noRequests()
    if (this.faults.length > 0) throw faulty(this.faults)
  }

  private async read(entry: Uint8Array): Promise<NewLine | undefined> {
    this.bytesInTurn += entry.length
    if (this.bytesInTurn > TURN_BYTES) {
      this.bytesInTurn = 0
      await ownTurn()
    }
    try {
      return this.lineOf(entry)
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status >= 500) throw error
      const { message, kind, options } = error
      const param = ['requests', this.place, options.param].filter((part) => part !== undefined).join('.')
      this.faults.push({ line: this.place + 1, code: options.code ?? kind, message, param })
      return undefined
    }
  }

  /** One request as a line. Throws the request's fault; `param` is the place in the request. */
  private lineOf(entry: Uint8Array): NewLine {
    const { deps, allowed, customIds } = this
    const json = parseLine(entry, deps.maxJsonDepth)
    if (!json) throw invalidRequest('This is not a JSON object.')
    const { custom_id: customId, params } = json
    if (typeof customId !== 'string' || !CUSTOM_ID.test(customId)) {
      throw invalidRequest('It must have 1 to 64 letters, digits, hyphens and underscores.', 'custom_id')
    }
    if (customIds.has(customId)) throw invalidRequest('An earlier request has the same.', 'custom_id')
    customIds.add(customId)
    if (!isJsonObject(params)) throw invalidRequest('It must be the body of a request.', 'params')
    const body = JSON.stringify(asWritten(params))
    const checks = { formats: deps.formats, catalog: deps.catalog, allowed }
    try {
      return { customId, body, ...checkLine(checks, ENDPOINT, params, Buffer.byteLength(body)) }
    } catch (error) {
      throw error instanceof GatewayError ? inParams(error) : error
    }
  }
}

function inParams({ kind, message, options }: GatewayError): GatewayError {
  const { param, code } = options
  const place = param === undefined ? 'params' : `params.${param}`
  return new GatewayError(kind, message, { param: place, ...(code !== undefined && { code }) })
}

function faulty(faults: readonly LineFault[]): GatewayError {
  const told = faults.map(({ message, param }) => `${param}: ${message}`).join(' ')
  const [first] = faults
  return new GatewayError('invalid_request', `No batch was made. ${told}`, {
    code: 'invalid_batch_input',
    ...(first?.param && { param: first.param }),
    details: { errors: faults.map((fault): JsonObject => ({ ...fault })) },
    ownWords: 'No batch was made: some of its requests have faults.',
  })
}

function noRequests(): GatewayError {
  return invalidRequest('requests: expected at least one request.', 'requests')
}

function tooMany(): GatewayError {
  return invalidRequest(`requests: a batch has at most ${MAX_BATCH_REQUESTS} requests.`, 'requests')
}

const SPLIT_FAULTS: Record<SplitFault, (error: SplitError, maxBytes: number) => string> = {
  no_list: () => 'The body must be a JSON object with the list `requests`.',
  long_entry: ({ entries }, maxBytes) => `requests[${entries}]: a request has at most ${maxBytes} bytes.`,
  long_rest: () => 'The body must have nothing but the list `requests`.',
}

function unsplit(error: SplitError, maxBytes: number): GatewayError {
  return invalidRequest(SPLIT_FAULTS[error.fault](error, maxBytes), 'requests')
}
