/** Answers the lines of batches with the code of their endpoints. Each line is a request of the batch's key, without a client. */
import { type LineAnswer, nextStep } from '@/batches/line-outcome'
import type { LineAnswerer, LineCall } from '@/batches/runner'
import { GatewayError, knownError } from '@/chat/error'
import { answerChat } from '@/http/answer-chat'
import { answerEmbeddings } from '@/http/answer-embeddings'
import { rememberPeer } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import type { BatchLine } from '@/http/paid-request'
import { formatOfRequest } from '@/http/request-format'
import { EMBEDDINGS_PATH, embeddingsEndpoint } from '@/http/routes/chat-completions'
import { type Nano, ZERO_NANO } from '@/lib/money'

const NO_HEADERS = new Headers()

/** The answerer of lines, with the dependencies of the routes. */
export function createLineAnswerer(deps: HttpDeps): LineAnswerer {
  return {
    answer: (call) => answerLine(deps, call),
    lostAnswer(endpoint, requestId) {
      const { status, body } = formatOfRequest(deps.formats, endpoint, NO_HEADERS).encodeError(lostAnswer(), requestId)
      return { status, body: JSON.stringify(body) }
    },
  }
}

async function answerLine(
  deps: HttpDeps,
  { endpoint, headers, clientAddress, payer, requestId, body, faults }: LineCall,
): Promise<LineAnswer> {
  let error: GatewayError | undefined
  let cost: Nano = ZERO_NANO
  const batchLine: BatchLine = {
    requestId,
    onRefused(thrown) {
      error = knownError(thrown)
      return nextStep({ error, isCharged: cost > 0 }, faults).kind === 'end'
    },
    onSettled(_ending, charge) {
      if (charge.kind === 'charge') cost = charge.cost
    },
  }
  const request = new Request(`http://batch${endpoint}`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  })
  rememberPeer(request, clientAddress)
  const way = { payerOf: async () => payer, batchLine }
  const format = formatOfRequest(deps.formats, endpoint, NO_HEADERS)
  const response = await (endpoint === EMBEDDINGS_PATH
    ? answerEmbeddings(deps, request, { ...embeddingsEndpoint(deps), ...way })
    : answerChat(deps, request, { ...way, format, route: endpoint, line: {}, framing: format.framing }))
  // A provider's JSON may have line breaks, but each result must be one line of a file.
  const text = (await response.text()).replace(/[\r\n]+/g, ' ')
  return { status: response.status, body: text, cost, isCharged: cost > 0, error }
}

function lostAnswer(): GatewayError {
  const message =
    'This request was charged, and its answer was lost with the server that had it. It is not sent a second time.'
  return new GatewayError('conflict', message, { code: 'batch_answer_lost' })
}
