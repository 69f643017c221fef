/** Tools that run at the provider: allowed only with a price, reserved as /v1/route shows, charged per use, and passed on. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { costOf } from '@test/money-bugs/support'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, liveStream, usageOf } from '@test/support/upstream'
import { type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'
import { message, messageEvents, namedEvents, SEARCH, SEARCH_CONTENT, sse } from './search-answers'

const CENT = 10_000_000
/** What the other answer costs that a test asks for in between. */
const SOUND = 10 * 1_000 + 5 * 2_000
const TOKEN = { input: 1_000, output: 2_000 }
const PRICES = {
  web_search: 0.01,
  web_fetch: 0,
  code_execution: { usd: 0.02, maxUses: 3 },
  google_search: 0.01,
  url_context: 0,
  google_search_retrieval: { usd: 0.05, per: 'request' },
}

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels({}, { toolPrices: PRICES })
})
afterAll(async () => {
  await world.gateway.stop()
})

/** What one question costs in nano-USD, and what is answered. */
async function asked(format: FormatName, answer: () => Response, body: Record<string, unknown>, stream = false) {
  let received: Record<string, unknown> = {}
  const model = world.modelWith(format, (call) => {
    received = call.body
    return answer()
  })
  let result: Awaited<ReturnType<ScriptedModels['ask']>> | undefined
  const cost = await costOf(world.gateway, world.customer.accountId, async () => {
    result = await world.ask({ format, model, body, stream })
  })
  return {
    cost,
    received,
    status: result?.response.status,
    text: result?.text ?? '',
    headers: result?.response.headers,
  }
}

describe('messages', () => {
  const tokens = 100 * TOKEN.input + 10 * TOKEN.output

  test('messages: searches are charged by the provider’s count, and the answer is relayed unchanged', async () => {
    const own = message({ web_search_requests: 3 })
    const { cost, text, headers } = await asked('messages', () => Response.json(own), { tools: [SEARCH] })
    expect(cost).toBe(tokens + 3 * CENT)
    expect(JSON.parse(text)).toEqual({ ...own, model: expect.stringContaining('svc/') })
    expect(headers?.get('x-svc-cost-usd')).toBe('0.03012')
  })

  test('messages: searches in a stream are charged by the provider’s count', async () => {
    const events = messageEvents({ web_search_requests: 2, web_fetch_requests: 1 })
    const [first, ...others] = events
    const { cost, text } = await asked('messages', () => sse(namedEvents(events)), { tools: [SEARCH] }, true)
    expect(cost).toBe(tokens + 2 * CENT)
    expect(text.endsWith(namedEvents(others))).toBe(true)
    expect(text).toContain(String(first?.type))
  })

  test('messages: a use limit is added if the caller sets none', async () => {
    const answer = () => Response.json(message({ web_search_requests: 0 }))
    const { received } = await asked('messages', answer, { tools: [SEARCH] })
    expect(received.tools).toEqual([{ ...SEARCH, max_uses: 5 }])
    const own = { ...SEARCH, max_uses: 2, allowed_domains: ['a.example'] }
    expect((await asked('messages', answer, { tools: [own] })).received.tools).toEqual([own])
  })

  test('messages: code runs are counted in the content', async () => {
    const run = { type: 'server_tool_use', id: 'srvtoolu_2', name: 'bash_code_execution', input: {} }
    const own = { ...message(undefined), content: [...SEARCH_CONTENT, run, { ...run, id: 'srvtoolu_3' }] }
    const tools = [{ type: 'code_execution_20250825', name: 'code_execution' }]
    const { cost, received } = await asked('messages', () => Response.json(own), { tools })
    expect(cost).toBe(tokens + 2 * 2 * CENT)
    expect(received.tools).toEqual(tools)
  })

  test('messages: the next turn sends the tool blocks back unchanged', async () => {
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: SEARCH_CONTENT },
      { role: 'user', content: 'And tomorrow?' },
    ]
    const { received, cost } = await asked('messages', () => Response.json(message(undefined)), { messages })
    expect(received.messages).toEqual(messages)
    expect(cost).toBe(tokens)
  })

  test('messages: a search is charged even if the answer breaks off after it', async () => {
    const until2 = messageEvents({}).slice(0, 6)
    const model = world.modelWith('messages', () => sse(`${namedEvents(until2)}: waiting\n\n`))
    const cost = await costOf(world.gateway, world.customer.accountId, () =>
      world.ask({ format: 'messages', model, body: { tools: [SEARCH] }, stream: true }),
    )
    expect(cost).toBeGreaterThanOrEqual(CENT + 100 * TOKEN.input)
  })

  test('messages: a client that disconnects pays the provider’s final count', async () => {
    const live = liveStream()
    const model = world.modelWith('messages', () => live.response)
    const events = messageEvents({ web_search_requests: 2 })
    live.write(namedEvents(events.slice(0, 5)))
    const client = new AbortController()
    const cost = await costOf(world.gateway, world.customer.accountId, async () => {
      const response = await fetch(`${world.gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.customer.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ model, stream: true, max_tokens: 10, tools: [SEARCH] },
          messages: [{ role: 'user', content: 'Weather?' }],
        }),
        signal: client.signal,
      })
      await response.body?.getReader().read()
      client.abort()
      // By then the gateway has seen the client go.
      const other = world.modelWith('messages', () => soundAnswer('messages', false))
      await world.ask({ format: 'messages', model: other })
      live.write(namedEvents(events.slice(5)))
      live.close()
    })
    expect(cost).toBe(tokens + 2 * CENT + SOUND)
  })

  test('messages: tool uses beyond the limit are charged from the rest of the hold', async () => {
    const tools = [{ ...SEARCH, max_uses: 1 }]
    const { cost } = await asked('messages', () => Response.json(message({ web_search_requests: 2 })), { tools })
    expect(cost).toBe(tokens + 2 * CENT)
  })

  test('messages: tool uses beyond the hold are not charged, and the record is flagged', async () => {
    const tools = [{ ...SEARCH, max_uses: 1 }]
    const answer = () => Response.json(message({ web_search_requests: 1_000_000 }))
    const { cost, headers } = await asked('messages', answer, { tools })
    const id = headers?.get('x-request-id') ?? ''
    const [record] = await until(async () => {
      const rows = await world.gateway.gateway.database.sql`
        SELECT held_nano::bigint AS held, flags, tool_charges FROM usage_records WHERE request_id = ${id}`
      return rows.length > 0 && rows
    }, 'the record')
    expect(cost).toBeLessThanOrEqual(record?.held)
    expect(cost).toBeGreaterThan(record?.held - CENT)
    expect(record?.flags).toBe('{clamped}')
  })
})

describe('generate-content', () => {
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 }
  const tokens = 100 * TOKEN.input + 10 * TOKEN.output
  const candidate = (more: object, isLast = true) => ({
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Sun.' }] },
        index: 0,
        ...(isLast && { finishReason: 'STOP' }),
        ...more,
      },
    ],
    usageMetadata,
  })
  const grounded = (...webSearchQueries: string[]) => ({ groundingMetadata: { webSearchQueries, groundingChunks: [] } })

  test.each([
    ['googleSearch', { googleSearch: {} }, 2 * CENT],
    ['google_search, as Python spells it', { google_search: {} }, 2 * CENT],
    ['googleSearchRetrieval, charged once a request', { googleSearchRetrieval: {} }, 5 * CENT],
  ])('generate-content, %s: each different query is charged once, an empty one is free', async (_name, tool, fee) => {
    const own = candidate(grounded('weather', '', 'weather', 'forecast'))
    const { cost, text, received } = await asked('generate-content', () => Response.json(own), { tools: [tool] })
    expect(cost).toBe(tokens + fee)
    expect(JSON.parse(text)).toEqual(own)
    expect(received.tools).toEqual([tool])
  })

  test('generate-content: repeated queries in a stream are charged once', async () => {
    const events = [candidate({}, false), candidate(grounded('a'), false), candidate(grounded('a', 'b'))]
    const answer = () => eventStream(...events)
    const { cost, text } = await asked('generate-content', answer, { tools: [{ googleSearch: {} }] }, true)
    expect(cost).toBe(tokens + 2 * CENT)
    expect(text).toBe(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  })

  test('generate-content: an answer without a search has no tool charge', async () => {
    const answer = () => Response.json(candidate({}))
    const tools = [{ googleSearch: {} }, { urlContext: {} }]
    expect((await asked('generate-content', answer, { tools })).cost).toBe(tokens)
  })

  test('generate-content: a tool without a price is refused beside one with a price', async () => {
    const answer = () => Response.json(candidate({}))
    const { status, text } = await asked('generate-content', answer, { tools: [{ googleSearch: {}, googleMaps: {} }] })
    expect(status).toBe(400)
    expect(text).toContain('tools[0]')
  })
})

describe('chat-completions', () => {
  const body = { web_search_options: { search_context_size: 'low' } }
  const usage = usageOf(100, 10)
  const tokens = 100 * TOKEN.input + 10 * TOKEN.output

  test('chat-completions: a search is charged once per request if the provider reports no count', async () => {
    const answer = () => Response.json(chatCompletion('Sun', usage))
    const { cost, received } = await asked('chat-completions', answer, body)
    expect(cost).toBe(tokens + CENT)
    expect(received).toMatchObject(body)
  })

  test('chat-completions: a search is charged by the provider’s count', async () => {
    const answer = () =>
      Response.json(chatCompletion('Sun', { ...usage, server_tool_use: { web_search_requests: 2 } } as never))
    expect((await asked('chat-completions', answer, body)).cost).toBe(tokens + 2 * CENT)
  })

  test('chat-completions: the last event of a stream lists the tool charges', async () => {
    const model = world.modelWith('chat-completions', () => eventStream(...chatStream(['Sun'], usage)))
    const { text } = await world.ask({
      ...{ format: 'chat-completions', model, body, stream: true },
      headers: { 'x-svc-usage-record': 'true' },
    })
    const record = JSON.parse(text.split('event: usage_record\ndata: ')[1] ?? '{}')
    expect(record).toMatchObject({ cost_usd: '0.01012', tools: [{ name: 'web_search', uses: 1, cost_usd: '0.01' }] })
  })
})

describe('the cost of tools', () => {
  test('the highest tool cost is reserved: an account with less is refused, and may allow fewer uses', async () => {
    const { key } = await world.gateway.customer('0.6')
    const model = world.modelWith('messages', () => Response.json(message({ web_search_requests: 1 })))
    const ask = (maxUses: number) =>
      fetch(`${world.gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
          tools: [{ ...SEARCH, max_uses: maxUses }],
        }),
      })
    expect((await ask(60)).status).toBe(402)
    expect((await ask(1)).status).toBe(200)
  })

  test('records, account summary and the list of models have tool costs', async () => {
    const answer = () => Response.json(message({ web_search_requests: 3 }))
    const { headers } = await asked('messages', answer, { tools: [SEARCH] })
    const id = headers?.get('x-request-id') ?? ''
    const [record] = await until(async () => {
      const rows = await world.gateway.gateway.database.sql`
        SELECT cost_nano::bigint AS cost, tool_charges FROM usage_records WHERE request_id = ${id}`
      return rows.length > 0 && rows
    }, 'the record')
    expect(record?.tool_charges).toEqual([{ name: 'web_search', uses: 3, cost: 3 * CENT }])
    const authorization = { headers: { authorization: `Bearer ${world.customer.key}` } }
    const usage = (await (await fetch(`${world.gateway.url}/v1/usage`, authorization)).json()) as {
      recentUsage: unknown[]
    }
    expect(usage.recentUsage[0]).toMatchObject({ credits: 0.03012, toolUses: { web_search: 3 } })
    const models = (await (await fetch(`${world.gateway.url}/v1/models/svc/messages-0`)).json()) as Record<
      string,
      unknown
    >
    expect(models.pricing).toMatchObject({ tools: { web_search: { price: 0.01, per: 'use' } } })
  })
})

describe('tools at a model without a price for them', () => {
  test.each(['chat-completions', 'generate-content'] as const)(
    'a provider of %s never gets another format’s tool; the 400 names models that accept it',
    async (provider) => {
      const model = world.modelWith(provider, () => soundAnswer(provider, false))
      const { response, text } = await world.ask({ format: 'messages', model, body: { tools: [SEARCH] } })
      expect(response.status).toBe(400)
      expect(JSON.parse(text).error.message).toMatch(
        /tools\[0\] \(web_search_20250305\).*Models that take it: svc\/messages-0/,
      )
    },
  )

  test('if a tool has no price at a model, a fallback with a price answers', async () => {
    const foreign = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
    const model = world.modelWith('messages', () => Response.json(message({ web_search_requests: 1 })))
    const { response } = await world.ask({
      format: 'messages',
      model: foreign,
      fallback: [model],
      body: { tools: [SEARCH] },
    })
    expect(response.headers.get('x-svc-model')).toBe(model)
  })
})

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
