/** Every way in which a request ends, and the requests of each format, for the test of what they leave in the log. */

import { expect } from 'bun:test'
import type { Customer, TestGateway } from '@test/support/gateway'
import { chatChunk, chatCompletion, chatStream, eventStream, liveStream } from '@test/support/upstream'
import { generateKey } from '@/accounts/key-text'

/** What every request and every answer says, and no line may. */
export const CANARY = 'content-canary-7731'
const LONG_MODEL = `svc/nobody-\u001b[31m\n${'x'.repeat(180)}`

/** The gateway of the test, and its customers; filled before the first ending. */
export const world = {} as { gateway: TestGateway; customer: Customer; poor: Customer }

type Wish = { key?: string; model?: string; stream?: boolean; headers?: Record<string, string>; text?: string }
/** The requests of one format. */
export type Dialect = {
  event: string
  model: string
  route(stream: boolean): string
  path(model: string, stream: boolean): string
  body(model: string, stream: boolean): object
  /** What the provider gives a request that is answered, as a whole or as a stream. */
  answer(stream: boolean): Response
}

/** A conversation. */
export const said = [{ role: 'user', content: CANARY }]
const chatAnswer = (stream: boolean) =>
  stream ? eventStream(...chatStream([CANARY, 'two'])) : Response.json(chatCompletion(CANARY))
const verbOf = (stream: boolean) => (stream ? 'streamGenerateContent' : 'generateContent')

/** By the name of the format; embeddings stand for themselves. */
export const DIALECTS: Record<string, Dialect> = {
  'chat-completions': {
    ...{ event: 'chat', model: 'svc/alpha', answer: chatAnswer },
    route: () => '/v1/chat/completions',
    path: () => '/v1/chat/completions',
    body: (model, stream) => ({ model, stream, messages: said }),
  },
  messages: {
    ...{ event: 'chat', model: 'svc/alpha', answer: chatAnswer },
    route: () => '/v1/messages',
    path: () => '/v1/messages',
    body: (model, stream) => ({ model, stream, max_tokens: 99, messages: said }),
  },
  'generate-content': {
    ...{ event: 'chat', model: 'svc/alpha', answer: chatAnswer },
    route: (stream) => `/v1beta/models/{model}:${verbOf(stream)}`,
    path: (model, stream) => `/v1beta/models/${encodeURIComponent(model)}:${verbOf(stream)}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: CANARY }] }] }),
  },
  responses: {
    ...{ event: 'chat', model: 'svc/alpha', answer: chatAnswer },
    route: () => '/v1/responses',
    path: () => '/v1/responses',
    body: (model, stream) => ({ model, stream, input: CANARY }),
  },
  embeddings: {
    ...{ event: 'embedding', model: 'svc/embed' },
    route: () => '/v1/embeddings',
    path: () => '/v1/embeddings',
    body: (model) => ({ model, input: CANARY }),
    answer: () =>
      Response.json({
        ...{ object: 'list', model: 'embed-upstream', usage: { prompt_tokens: 5, total_tokens: 5 } },
        data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.5] }],
      }),
  },
}

/** What an ending does, and what its line says. `isOfChats`: only a stream of a conversation can come to it. */
export type Ending = {
  status: number | ((dialect: Dialect) => number)
  says: object
  act(send: (wish?: Wish, signal?: AbortSignal) => Promise<Response>, dialect: Dialect): Promise<void>
  isOfChats?: boolean
  isStranger?: boolean
}

/** Waits for the end of an answer. */
export const read = async (answer: Promise<Response>) => void (await (await answer).text())
const provider = (respond: () => Response | Promise<Response>) => world.gateway.upstream.respond(respond)
const attempt = { model: expect.any(String), provider: 'provider1', attempts: expect.any(Number) }

/** By what is said of the request. */
export const ENDINGS: Record<string, Ending> = {
  'answered as a whole': {
    status: 200,
    says: { ...attempt, ending: 'complete', stream: false, costNano: expect.any(Number), usage: expect.any(Object) },
    async act(send, { answer }) {
      provider(() => answer(false))
      await read(send())
    },
  },
  'answered as a stream': {
    status: 200,
    says: { ...attempt, ending: 'complete', stream: true, firstTokenMs: expect.any(Number) },
    isOfChats: true,
    async act(send, { answer }) {
      provider(() => answer(true))
      await read(send({ stream: true }))
    },
  },
  'left by its client in the middle': {
    status: 499,
    says: { ...attempt, ending: 'disconnected', clientGone: true },
    isOfChats: true,
    async act(send) {
      const live = liveStream()
      live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: CANARY }))}\n\n`)
      provider(() => live.response)
      const abort = new AbortController()
      const reader = (await send({ stream: true }, abort.signal)).body?.getReader()
      await reader?.read()
      abort.abort()
      await reader?.read().catch(() => undefined)
    },
  },
  'left by its client before the provider said a word': {
    status: 499,
    says: { ...attempt, ending: 'unanswered', clientGone: true },
    async act(send) {
      const asked = Promise.withResolvers<void>()
      provider(() => {
        asked.resolve()
        return new Promise(() => undefined)
      })
      const abort = new AbortController()
      const answer = send({ stream: true }, abort.signal).catch(() => undefined)
      await asked.promise
      abort.abort()
      await answer
    },
  },
  'broken off by its provider': {
    status: 200,
    says: { ...attempt, ending: 'broken', error: expect.any(String) },
    isOfChats: true,
    async act(send) {
      provider(() => eventStream(chatChunk({ role: 'assistant', content: CANARY })))
      await read(send({ stream: true }))
    },
  },
  'failed by its provider': {
    status: 502,
    says: { ...attempt, ending: 'refused', error: 'upstream_failed' },
    async act(send) {
      provider(() => Response.json({ error: { message: 'No such key' } }, { status: 401 }))
      await read(send())
    },
  },
  'not in JSON': {
    status: 400,
    says: { ending: 'refused', error: 'invalid_request' },
    act: (send) => read(send({ text: `{"${CANARY}` })),
  },
  'without a key': {
    status: 401,
    says: { ending: 'refused', error: 'invalid_credentials' },
    isStranger: true,
    act: (send) => read(send({ key: '' })),
  },
  'with a key that is none': {
    status: 401,
    says: { ending: 'refused', error: 'invalid_credentials' },
    isStranger: true,
    act: (send) => read(send({ key: generateKey('svc') })),
  },
  'without credit': {
    status: 402,
    says: { ending: 'refused', error: 'insufficient_credit' },
    act: (send) => read(send({ key: world.poor.key })),
  },
  'for a model that is not sold': {
    status: 404,
    says: { ending: 'refused', error: 'model_not_found', requestedModel: LONG_MODEL.slice(0, 128) },
    act: (send) => read(send({ model: LONG_MODEL })),
  },
  'with the key of another request': {
    status: 409,
    says: { ending: 'refused', error: 'conflict', code: 'idempotency_key_reused' },
    async act(send, { answer }) {
      provider(() => answer(false))
      const headers = { 'idempotency-key': crypto.randomUUID() }
      await read(send({ headers }))
      await read(send({ headers, text: '{}' }))
    },
  },
  'too large': {
    status: 413,
    says: { ending: 'refused', error: 'too_large' },
    act: (send) => read(send({ text: `{"x":"${'x'.repeat(30_000)}"}` })),
  },
  'of another type': {
    status: 415,
    says: { ending: 'refused', error: 'unsupported_media_type' },
    act: (send) => read(send({ headers: { 'content-type': 'text/plain' } })),
  },
  'beyond the limit of its key': {
    status: 429,
    says: { ending: 'refused', error: 'rate_limited' },
    async act(send) {
      const { key } = await world.gateway.customer('1', { requestsPerMinute: 1 })
      await read(send({ key }))
      await read(send({ key }))
    },
  },
  'given an earlier answer again': {
    status: 200,
    says: { replayOf: expect.stringMatching(/^req_/) },
    async act(send, { answer }) {
      provider(() => answer(false))
      const headers = { 'idempotency-key': crypto.randomUUID() }
      await read(send({ headers }))
      await read(send({ headers }))
    },
  },
  'met by a bug of ours': {
    status: 500,
    says: { ending: 'refused', error: 'internal' },
    act: (send) =>
      instead(
        world.gateway.gateway.deps.storeWatch,
        'isClosedTo',
        () => {
          throw new TypeError('a bug')
        },
        () => read(send()),
      ),
  },
  'while the process ends': {
    // Clients of messages know another status for it.
    status: ({ route }) => (route(false) === '/v1/messages' ? 529 : 503),
    says: { ending: 'refused', error: 'overloaded' },
    isStranger: true,
    act: (send) =>
      instead(
        world.gateway.gateway.deps,
        'isDraining',
        () => true,
        () => read(send()),
      ),
  },
}

/** Puts `other` in the place of a function while `act` runs. */
async function instead<T extends object, K extends keyof T>(owner: T, name: K, other: T[K], act: () => Promise<void>) {
  const own = owner[name]
  owner[name] = other
  await act().finally(() => {
    owner[name] = own
  })
}

/** Sends requests of one format from one address. */
export function senderOf(dialect: Dialect, address: string) {
  return (
    { key = world.customer.key, model = dialect.model, stream = false, headers, text }: Wish = {},
    signal?: AbortSignal,
  ) =>
    fetch(world.gateway.url + dialect.path(model, stream), {
      method: 'POST',
      headers: {
        ...(key !== '' && { authorization: `Bearer ${key}` }),
        ...{ 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
      },
      body: text ?? JSON.stringify(dialect.body(model, stream)),
      ...(signal && { signal }),
    })
}
