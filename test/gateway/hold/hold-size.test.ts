/** The size of a hold: never below the cost of the request at any model that may answer, and not needlessly large. */
import { describe, expect, test } from 'bun:test'
import { modelOf, providerOf, requestOf } from '@test/routing/world'
import { measurePrompt } from '@/catalog/estimate'
import type { Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatRequest, ContentBlock } from '@/chat/request'
import { affordableCap, exactSize, quickSize, resize } from '@/gateway/hold/hold-size'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'

const provider = providerOf('p')
/** 1,000 nano-USD for a token of input, 4,000 for one of output; and ten times that, with less room to write. */
const cheap = modelOf('svc/cheap', [provider], { maxOutputTokens: 1_000 })
const dear = modelOf('svc/dear', [provider], { maxOutputTokens: 500, usd: 10 })

function sizedFor(changes: Partial<ChatRequest> = {}, models: Model[] = [cheap], text = 'Hi') {
  const request = requestOf(changes, text)
  const targets = models.flatMap((model) => model.targets.map((target) => ({ model, target })))
  return { request, prompt: measurePrompt(request), plan: { models, targets } }
}

describe('the quick hold size', () => {
  test('the quick hold size uses the dearest model at its own limits, and the highest input bound', () => {
    const both = quickSize(sizedFor({}, [cheap, dear]), 1_000)
    const { inputTokens } = both.bounds
    expect(both.bounds).toEqual({ inputTokens: inputTokens, outputTokens: 1_000 })
    expect(both.amount).toBe(nano(inputTokens * 10_000 + 500 * 40_000))
    expect(inputTokens).toBeGreaterThanOrEqual(1_000)
  })

  test('the hold size counts the caller’s output limit once per choice', () => {
    const { bounds, amount } = quickSize(sizedFor({ maxOutputTokens: 10, choices: 3 }), 100)
    expect(bounds.outputTokens).toBe(30)
    expect(amount).toBe(nano(bounds.inputTokens * 1_000 + 30 * 4_000))
  })

  test('tokens per minute are counted by the requested limit, not the model’s maximum', () => {
    const asked = sizedFor({ maxOutputTokens: 10, choices: 3 })
    expect(quickSize(asked, 100).rateTokens).toBe(asked.prompt.estimatedTokens + 30)
    const open = sizedFor()
    expect(quickSize(open, 100).rateTokens).toBe(open.prompt.estimatedTokens)
  })

  test('a crash costs at least the input at the first model’s price, and never more than the hold', () => {
    const sized = sizedFor({}, [cheap, dear], 'word '.repeat(200))
    expect(quickSize(sized, 2_000).inputCost).toBe(nano(sized.prompt.estimatedTokens * 1_000))
    const free = modelOf('svc/free', [provider], { usd: 0 })
    expect(quickSize({ ...sized, plan: { ...sized.plan, models: [free] } }, 2_000)).toMatchObject({
      amount: nano(0),
      inputCost: nano(0),
    })
  })

  test('computing the hold size reads the prompt only once', () => {
    const sized = sizedFor()
    const unread = { ...sized.request }
    Object.defineProperty(unread, 'turns', {
      get() {
        throw new Error('read again')
      },
    })
    expect(quickSize({ ...sized, request: unread }, 100)).toEqual(quickSize(sized, 100))
  })

  test('a tool schema without references is reserved by the longer of the caller’s and the provider’s encoding', async () => {
    const subset = { ...providerOf('g'), format: 'generate-content' as const }
    const targetOf = (...quirks: string[]) => [{ provider: subset, model: 'm', quirks: new Set(quirks) }]
    const parameters = { type: 'object', description: 'd'.repeat(1_000) }
    const tools = [{ name: 'a', parameters }]
    const [plain, grown] = [targetOf(), targetOf('openapi-schema')].map((targets) => {
      const sized = sizedFor({ tools }, [modelOf('svc/subset', [], { targets })])
      return { sized, quick: quickSize(sized, 5_000) }
    })
    assert(plain && grown, 'both are sized')
    const schemaBytes = JSON.stringify(parameters).length
    expect(grown.quick.bounds.inputTokens - plain.quick.bounds.inputTokens).toBeGreaterThan(schemaBytes + 8_000)
    const [few, many] = await Promise.all([plain, grown].map(({ sized, quick }) => exactSize(sized, quick)))
    expect((many?.bounds.inputTokens ?? 0) - (few?.bounds.inputTokens ?? 0)).toBeGreaterThan(schemaBytes + 8_000)
  })

  test('a request for a field without a price is refused, unless every target has the quirk that pays for it', () => {
    const asks: Partial<ChatRequest> = { unpriced: [{ format: 'chat-completions', field: 'web_search_options' }] }
    expect(() => quickSize(sizedFor(asks), 100)).toThrow(GatewayError)
    const bearing = providerOf('q')
    const targets = [{ provider: bearing, model: 'm', quirks: new Set(['unpriced-extras']) }]
    const model = modelOf('svc/bearing', [], { targets })
    expect(() => quickSize(sizedFor(asks, [model]), 100)).not.toThrow()
    expect(() => quickSize(sizedFor(asks, [model, cheap]), 100)).toThrow(GatewayError)
  })
})

describe('files', () => {
  const video: ContentBlock = { type: 'file', source: { type: 'base64', mediaType: 'video/mp4', data: 'AAAA' } }
  const turns: ChatRequest['turns'] = [{ role: 'user', content: [video] }]

  test('files of unknown length reserve each model’s whole context, and the error of a refused request can name the files as the cause', () => {
    const small = modelOf('svc/small', [provider], { contextLength: 10_000 })
    const of = (model: Model) => quickSize(sizedFor({ turns }, [model]), 100)
    expect(of(small).bounds.inputTokens).toBeGreaterThanOrEqual(10_000)
    expect(of(small).bounds.inputTokens).toBeLessThan(10_500)
    expect(of(cheap).bounds.inputTokens).toBeGreaterThanOrEqual(cheap.contextLength)
    expect(of(cheap).fileTokens).toBe(of(cheap).bounds.inputTokens)
    expect(quickSize(sizedFor(), 100).fileTokens).toBeUndefined()
  })

  test('the tokenizer factors of models do not multiply the tokens of files', async () => {
    const wild = modelOf('svc/wild', [provider], { tokenizerSafetyFactor: 100, contextLength: 10_000 })
    const sized = sizedFor({ turns }, [wild])
    const quick = quickSize(sized, 1_000_000)
    const exact = await exactSize(sized, quick)
    expect(exact.bounds.inputTokens).toBeLessThan(10_000 + 120 * 100)
    expect(exact.fileTokens).toBe(exact.bounds.inputTokens)
  })
})

describe('the exact hold size', () => {
  const prose = 'The quick brown fox jumps over the lazy dog. '.repeat(100)

  test('the exact hold size is far below a token per byte, and leaves other parts unchanged', async () => {
    const sized = sizedFor({}, [cheap], prose)
    const quick = quickSize(sized, prose.length)
    const exact = await exactSize(sized, quick)
    expect(exact.bounds.inputTokens).toBeLessThan(quick.bounds.inputTokens / 2)
    expect(exact.bounds.outputTokens).toBe(quick.bounds.outputTokens)
    // Another vocabulary may make more tokens of it, though never more than there are bytes: that is paid from the same hold.
    expect(exact.bounds.beyond).toEqual({ inputTokens: quick.bounds.inputTokens, cost: exact.amount })
    const lowered = resize({ ...sized, request: { ...sized.request, maxOutputTokens: 300 } }, exact)
    expect(lowered.amount).toBeLessThan(exact.amount)
    expect(lowered.bounds.beyond).toEqual({ inputTokens: quick.bounds.inputTokens, cost: lowered.amount })
    expect([exact.rateTokens, exact.estimatedInput]).toEqual([quick.rateTokens, quick.estimatedInput])
  })

  test('the exact hold size is multiplied by each model’s factor, at most to the quick size', async () => {
    const wary = modelOf('svc/wary', [provider], { tokenizerSafetyFactor: 1.5 })
    const wild = modelOf('svc/wild', [provider], { tokenizerSafetyFactor: 100 })
    const of = async (model: Model) => {
      const sized = sizedFor({}, [model], prose)
      const quick = quickSize(sized, prose.length)
      return { quick: quick.bounds.inputTokens, exact: (await exactSize(sized, quick)).bounds.inputTokens }
    }
    const plain = (await of(cheap)).exact
    expect((await of(wary)).exact).toBe(Math.ceil(plain * 1.5))
    const { quick, exact } = await of(wild)
    expect(exact).toBe(quick)
  })

  test('the exact hold size equals the quick one if the gateway cannot count parts of the prompt', async () => {
    const sized = sizedFor({ nativeOnly: ['tools[0] (custom)'] }, [cheap], prose)
    const quick = quickSize(sized, prose.length)
    expect(await exactSize(sized, quick)).toBe(quick)
  })
})

describe('the output limit that a balance can pay', () => {
  const sized = sizedFor({}, [cheap, dear])
  const size = quickSize(sized, 500)
  const inputAt = (usd: number) => size.bounds.inputTokens * usd * 1_000

  test('the affordable output limit is the largest that every model covers', () => {
    const cap = affordableCap(sized, size, nano(inputAt(10) + 300 * 40_000 + 39_999))
    expect(cap).toBe(300)
  })

  test('the affordable output limit is at most the smallest model maximum', () => {
    expect(affordableCap(sized, size, nano(inputAt(10) + 1_000_000_000))).toBe(500)
  })

  test('the affordable output limit is never below the minimum', () => {
    expect(affordableCap(sized, size, nano(inputAt(10) + 256 * 40_000))).toBe(256)
    expect(affordableCap(sized, size, nano(inputAt(10) + 256 * 40_000 - 1))).toBeUndefined()
    const models = [modelOf('svc/short', [provider], { maxOutputTokens: 100 })]
    const short = { ...sized, plan: { ...sized.plan, models } }
    expect(affordableCap(short, size, nano(1_000_000_000))).toBeUndefined()
  })

  test('the affordable output limit is divided among the choices', () => {
    const two = { ...sized, request: requestOf({ choices: 2 }) }
    expect(affordableCap(two, size, nano(inputAt(10) + 600 * 40_000))).toBe(300)
  })

  test('the affordable output limit gives a hold that the balance covers', () => {
    const available = nano(inputAt(10) + 300 * 40_000 + 5)
    const cap = affordableCap(sized, size, available) ?? 0
    const lowered = resize({ ...sized, request: { ...sized.request, maxOutputTokens: cap } }, size)
    expect(lowered.amount).toBeLessThanOrEqual(available)
    expect(lowered.bounds).toEqual({ inputTokens: size.bounds.inputTokens, outputTokens: cap })
  })
})

describe('service tiers', () => {
  const times = (factor: number) => modelOf('svc/tier', [provider], { usd: factor }).pricing
  const serviceTiers = new Map([
    ['flex', times(0.5)],
    ['priority', times(2)],
  ])
  const tiered = { ...cheap, pricing: { ...cheap.pricing, serviceTiers } }
  for (const target of tiered.targets) target.serviceTiers = new Set(serviceTiers.keys())

  test.each([
    [undefined, 2],
    ['auto', 2],
    ['default', 1],
    ['standard_only', 1],
    ['flex', 1],
    ['priority', 2],
  ])('a request for tier %s holds the dearest possible tier, %d times the standard price', (serviceTier, factor) => {
    const request = serviceTier === undefined ? {} : { serviceTier }
    const { amount, bounds } = quickSize(sizedFor(request, [tiered]), 1_000)
    expect(amount).toBe(nano(factor * (bounds.inputTokens * 1_000 + 1_000 * 4_000)))
  })

  test.each([
    [undefined, 1_000],
    ['flex', 500],
    ['priority', 2_000],
  ])('after a request for tier %s, a crash costs the input at %d nano-USD a token', (serviceTier, price) => {
    const sized = sizedFor(serviceTier === undefined ? {} : { serviceTier }, [tiered], 'word '.repeat(200))
    expect(quickSize(sized, 2_000).inputCost).toBe(nano(sized.prompt.estimatedTokens * price))
  })

  test('a lowered output limit uses the dearest possible tier', () => {
    const sized = sizedFor({ serviceTier: 'priority' }, [tiered])
    const size = quickSize(sized, 100)
    const input = size.bounds.inputTokens * 2_000
    expect(affordableCap(sized, size, nano(input + 300 * 8_000))).toBe(300)
  })
})
