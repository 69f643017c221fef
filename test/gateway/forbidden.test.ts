/** A provider that answers 403 for one customer's content: its key stays in use, unless several accounts get the same. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { UpstreamCall } from '@test/support/upstream'
import { type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let models: ScriptedModels

beforeAll(async () => {
  models = await startScriptedModels({ keys: ['sk-first-canary', 'sk-second-canary'] })
})

afterAll(() => models.gateway.stop())

/** Answers everything but what holds the forbidden word. */
function moderated(call: UpstreamCall): Response {
  if (!JSON.stringify(call.body).includes('forbidden')) return soundAnswer('chat-completions', false)
  return Response.json({ error: { message: 'Your input was flagged', code: 403 } }, { status: 403 })
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
  expect(alerts()).toHaveLength(2)
  // The last resort: a key that rests is better than none.
  expect(await say(models.customer.key, model, 'good')).toBe(200)
})
