/** Calls that wait for their credential: how the wait ends, and what a refused credential leads to. */
import { expect, test } from 'bun:test'
import { chatCompletion, startUpstream } from '@test/support/upstream'
import { type Authorizer, CredentialError } from '@/dialects/credentials/authorizer'
import { FORMATS } from '@/formats/index'
import type { CallHandle } from '@/upstream/call-deadline'
import { callUpstream } from '@/upstream/client'
import { callOf } from './raw-provider'

/** All that a call asks of an authorizer. */
type Calls = Pick<Authorizer, 'authorize' | 'refused'>

/** An authorizer that never has anything, and says when it is asked. */
function waiting() {
  const asked = Promise.withResolvers<void>()
  const authorizer: Calls = {
    authorize(_, signal) {
      asked.resolve()
      const gone = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => gone.reject(new CredentialError('gone')))
      return gone.promise
    },
    refused: () => true,
  }
  return { authorizer, asked: asked.promise }
}

function dialectWith(calls: Calls) {
  const status = { expiresAtMs: undefined, obtained: 0, failed: 0 }
  const authorizer: Authorizer = { ...calls, warm: () => undefined, status: () => status }
  const endpoint = FORMATS.get('chat-completions')?.endpoint
  if (!endpoint) throw new Error('no format')
  return { ...endpoint, credential: undefined, authorizer }
}

test('if the client disconnects during authorization, no request is sent', async () => {
  const { authorizer, asked } = waiting()
  const client = new AbortController()
  const provider = { dialect: dialectWith(authorizer) }
  const calling = callUpstream(callOf('http://127.0.0.1:1', { provider, signal: client.signal }))
  await asked
  client.abort()
  expect(await calling).toEqual({
    kind: 'failed',
    failure: { kind: 'unreachable', detail: 'gone', isUnheard: true },
  })
})

test('a cancelled call reports why it was cancelled', async () => {
  const { authorizer, asked } = waiting()
  const handle: CallHandle = { deadline: undefined }
  const calling = callUpstream(callOf('http://127.0.0.1:1', { provider: { dialect: dialectWith(authorizer) }, handle }))
  await asked
  handle.deadline?.end('silence')
  expect(await calling).toEqual({ kind: 'failed', failure: { kind: 'timeout', phase: 'silence' } })
})

test.each([
  [true, ['1', '2']],
  [false, ['1']],
])('a refusal of a replaceable credential (%p) is repeated once at most', async (isReplaced, expected) => {
  const shown: string[] = []
  const upstream = startUpstream(({ headers }) => {
    shown.push(headers.get('authorization') ?? '')
    return new Response(null, { status: 401 })
  })
  let count = 0
  const authorizer: Calls = {
    authorize: async ({ headers }) => ({ ...headers, authorization: String(++count) }),
    refused: () => isReplaced,
  }
  const result = await callUpstream(callOf(upstream.url, { provider: { dialect: dialectWith(authorizer) } }))
  upstream.stop()
  expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'refused', error: { status: 401 } } })
  expect(shown).toEqual(expected)
})

test('the authorizer gets all parts of the request', async () => {
  const upstream = startUpstream(() => Response.json(chatCompletion('Hi')))
  const seen: unknown[] = []
  const authorizer: Calls = {
    async authorize(call) {
      seen.push(call)
      return { ...call.headers, 'x-signed': 'yes' }
    },
    refused: () => false,
  }
  await callUpstream(callOf(upstream.url, { provider: { dialect: dialectWith(authorizer) } }))
  upstream.stop()
  const [arrived] = upstream.calls
  expect(seen).toEqual([
    {
      url: upstream.url + arrived?.path,
      headers: expect.objectContaining({ 'content-type': 'application/json', 'user-agent': 'svc-gateway' }),
      body: arrived?.text,
    },
  ])
  expect(arrived?.headers.get('x-signed')).toBe('yes')
})

test('the authorizer gets status, error code and time of a refusal', async () => {
  const date = 'Tue, 24 Nov 2026 10:00:00 GMT'
  const upstream = startUpstream(() =>
    Response.json({ error: { code: 'odd', message: 'no' } }, { status: 403, headers: { date } }),
  )
  const told: unknown[] = []
  const authorizer: Calls = {
    authorize: async ({ headers }) => ({ ...headers }),
    refused(_, refusal) {
      told.push(refusal)
      return false
    },
  }
  await callUpstream(callOf(upstream.url, { provider: { dialect: dialectWith(authorizer) } }))
  upstream.stop()
  expect(told).toEqual([{ status: 403, kind: 'odd', serverTimeMs: Date.parse(date) }])
})
