import { type ChatCompletionRequest, type FixtureResponse, LLMock } from '@copilotkit/aimock'
import { simulateAnswer } from './sandbox-answer'
import { answerBatch, answerEmbeddings } from './sandbox-embeddings'

/** `baseUrl` has no path. chat-completions and responses are at `/v1`, messages at `/v1/messages`, generate-content at `/v1beta`. */
export type Sandbox = { baseUrl: string; stop(): Promise<void> }

const CHUNK_CHARACTERS = 16
const CHUNK_INTERVAL_MS = 8
/** Marks generate-content requests. In this format, tool calls and texts end with the same finish reason. */
const ENDS_CALLS_WITH_STOP = 'ends-calls-with-stop'

/** Starts a simulated provider in this process, for every format, credential and model name. Its answers say that they are simulated. */
export async function startSandbox(): Promise<Sandbox> {
  // The library stores requests for inspection, and can't store fewer than one.
  const server = new LLMock({ port: 0, host: '127.0.0.1', journalMaxEntries: 1, fixtureCountsMaxTestIds: 1 })
  server.mount('/v1beta', {
    async handleRequest(request, response, path) {
      request.headers['x-aimock-context'] = ENDS_CALLS_WITH_STOP
      return answerBatch(request, response, path)
    },
  })
  server.mount('/v1/embeddings', { handleRequest: answerEmbeddings })
  server.on({}, respond, { chunkSize: CHUNK_CHARACTERS, latency: CHUNK_INTERVAL_MS })
  const baseUrl = await server.start()
  return { baseUrl, stop: () => server.stop() }
}

function respond(request: ChatCompletionRequest): FixtureResponse {
  const { usage, ...answer } = simulateAnswer(request)
  const counts = { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens }
  if (answer.kind === 'text') {
    return { content: answer.text, usage: counts, finishReason: answer.isCutShort ? 'length' : 'stop' }
  }
  return {
    toolCalls: [{ name: answer.name, arguments: JSON.stringify(answer.arguments) }],
    usage: counts,
    finishReason: request._context === ENDS_CALLS_WITH_STOP ? 'STOP' : 'tool_calls',
  }
}
