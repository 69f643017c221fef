/** A provider's 429 or 403 for one account's requests does not stop other accounts, unless several accounts get it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScriptedModels, soundAnswer, startScriptedModels } from '@test/gateway/scripted-models'
import type { UpstreamCall } from '@test/support/upstream'

let models: ScriptedModels

beforeAll(async () => {
  models = await startScriptedModels({ keys: ['sk-only-canary'] })
})

afterAll(() => models.gateway.stop())

/** Limits whatever holds the word `large`, in the given words and headers. */
const limiting = (message: string, headers: Record<string, string>) => (call: UpstreamCall) => {
  if (!JSON.stringify(call.body).includes('large')) return soundAnswer('chat-completions', false)
  return Response.json({ error: { message, type: 'tokens', code: 'rate_limit_exceeded' } }, { status: 429, headers })
}

async function say(key: string, model: string, content: string): Promise<number> {
  const response = await fetch(`${models.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }], max_tokens: 10 }),
  })
  await response.text()
  return response.status
}

const TOO_LARGE = 'Request too large for x on tokens per min (TPM): Limit 30000, Requested 34041.'
const REACHED = 'Rate limit reached for x on tokens per min (TPM).'

test.each([
  [TOO_LARGE, {}, 413],
  [REACHED, {}, 503],
  [REACHED, { 'retry-after': '60' }, 503],
  [REACHED, { 'retry-after': '60', 'x-ratelimit-remaining-tokens': '9000' }, 503],
] as [string, Record<string, string>, number][])(
  'a 429 with %p and %j stops one account only',
  async (message, headers, status) => {
    const model = models.modelWith('chat-completions', limiting(message, headers))
    const { key } = await models.gateway.customer('1')
    const others: number[] = []
    for (let time = 0; time < 10; time++) {
      expect(await say(models.customer.key, model, 'large')).toBe(status)
      others.push(await say(key, model, 'good'))
    }
    expect(others).toEqual(Array.from({ length: 10 }, () => 200))
  },
)

test('a 429 without a waiting time is final, and the provider is not called again', async () => {
  const headers = { 'retry-after': '60', 'x-ratelimit-remaining-tokens': '0' }
  const model = models.modelWith('chat-completions', limiting(REACHED, headers))
  const { key } = await models.gateway.customer('1')
  expect(await say(models.customer.key, model, 'large')).toBe(503)
  expect(await say(key, model, 'good')).toBe(503)
})

/** Answers everything but what holds the forbidden word. */
function moderated(call: UpstreamCall): Response {
  if (!JSON.stringify(call.body).includes('forbidden')) return soundAnswer('chat-completions', false)
  return Response.json({ error: { message: 'Your input was flagged', code: 403 } }, { status: 403 })
}

function alerts(): string[] {
  return models.gateway.logLines.filter((line) => line.includes('provider_key_refused'))
}

test('403s for one account do not take the provider keys away from other accounts', async () => {
  const model = models.modelWith('chat-completions', moderated)
  for (let time = 0; time < 10; time++) expect(await say(models.customer.key, model, 'forbidden')).toBe(502)
  expect(alerts()).toEqual([])
  expect(await say(models.customer.key, model, 'good')).toBe(200)
})

test('403s for three accounts in a row stop the use of the provider key', async () => {
  const model = models.modelWith('chat-completions', moderated)
  for (let account = 0; account < 3; account++) {
    const { key } = await models.gateway.customer('1')
    expect(await say(key, model, 'forbidden')).toBe(502)
  }
  expect(alerts()).toHaveLength(1)
  // The last resort: a key that rests is better than none.
  expect(await say(models.customer.key, model, 'good')).toBe(200)
})
