/** The hold that /v1/route shows, compared with the hold of the same request. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { message, SEARCH } from '@test/gateway/search-answers'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels({}, { toolPrices: { web_search: 0.01 } })
})
afterAll(() => world.gateway.stop())

test('/v1/route shows the hold to the nano-USD, without tools, with tools, and for several models', async () => {
  const { gateway } = world
  const { accountId, key } = await gateway.customer('50')
  let held = 0
  const respond = async () => {
    held = Number((await gateway.balance(accountId)).held)
    return Response.json(message(undefined))
  }
  const searching = world.modelWith('messages', respond)
  const other = world.modelWith('messages', respond)
  const post = async (path: string, body: object) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...body }),
    })
    return (await response.json()) as { hold_usd?: number }
  }
  for (const body of [
    { model: searching },
    { model: searching, tools: [{ ...SEARCH, max_uses: 3 }] },
    { model: searching, models: [searching, other], tools: [{ ...SEARCH, max_uses: 3 }] },
  ]) {
    const { hold_usd: told = 0 } = await post('/v1/route?format=messages', body)
    await post('/v1/messages', body)
    expect([body, Math.round(told * 1e9)]).toEqual([body, held])
    expect(held).toBeGreaterThan(0)
  }
})
