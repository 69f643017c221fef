/** Tool charges: price times uses, exact to the nano-USD, and with the tokens never above the hold. */
import { describe, expect, test } from 'bun:test'
import { arbitraryPricing, modelOf } from '@test/catalog/sample-requests'
import { providerOf, modelOf as worldModel } from '@test/routing/world'
import { fc } from '@test/support/property'
import { requestCost, worstCaseCost } from '@/catalog/price'
import { dearestTools, inputWithTools, takesTools } from '@/catalog/tool-allowance'
import type { Target, ToolPrice } from '@/catalog/types'
import type { ServerTool, ToolUses } from '@/chat/server-tools'
import { chargeTools, decideCharge, type ToolTerms } from '@/gateway/charge/charge'
import type { MeterReading } from '@/gateway/charge/meter'
import { providerBill } from '@/gateway/charge/provider-bill'
import { type Charge, FREE } from '@/ledger/charge'
import { nano } from '@/lib/money'

const USAGE = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }
const charged = (cost: number): Charge => ({ kind: 'charge', cost: nano(cost), usage: USAGE, rule: 'usage', flags: [] })
const terms = (more: Partial<ToolPrice> = {}) => ({ price: nano(10), per: 'use' as const, unsaidUses: 0, ...more })

/** What the provider asks of us for tools alone: of an answer without a token. */
function costOfTools(tools: readonly ToolTerms[], toolUses: ToolUses | undefined, charge: Charge): number | undefined {
  const reading = { usage: USAGE, isUsageStale: false, countedOutput: 0, hasOutput: true, finish: undefined }
  return providerBill(
    { ...reading, ...(toolUses && { toolUses }) },
    charge,
    worldModel('svc/alpha', []).pricing,
    { estimatedInput: 0 },
    tools,
  ).providerCost
}

describe('charges of tools', () => {
  test('a tool charge is price times uses, added to the tokens', () => {
    const tools = [
      { name: 'web_search', ...terms() },
      { name: 'web_fetch', ...terms({ price: nano(3) }) },
    ]
    expect(chargeTools(charged(100), tools, { web_search: 2, web_fetch: 1, other: 9 }, nano(1_000))).toEqual({
      ...charged(123),
      tools: [
        { name: 'web_search', uses: 2, cost: nano(20) },
        { name: 'web_fetch', uses: 1, cost: nano(3) },
      ],
    } as Charge)
  })

  test('a tool priced per request is charged once, and not at all if unused', () => {
    const tools = [{ name: 'google_search', ...terms({ per: 'request' }) }]
    expect(chargeTools(charged(0), tools, { google_search: 7 }, nano(100))).toMatchObject({ cost: 10 })
    expect(chargeTools(charged(5), tools, { google_search: 0 }, nano(100))).toEqual(charged(5))
    expect(chargeTools(charged(5), tools, undefined, nano(100))).toEqual(charged(5))
  })

  test('if the answer states no number of tool uses, they are counted in its content', () => {
    const tools = [{ name: 'web_search', ...terms(), unsaidUses: 1 }]
    expect(chargeTools(charged(0), tools, undefined, nano(100))).toMatchObject({ cost: 10 })
    expect(chargeTools(charged(0), tools, { web_search: 0 }, nano(100))).toMatchObject({ cost: 0 })
  })

  test('neither a free answer nor a disconnect before the answer has a tool charge', () => {
    expect(chargeTools(FREE, [{ name: 'web_search', ...terms() }], { web_search: 2 }, nano(100))).toEqual(FREE)
    const early: Charge = { kind: 'charge', cost: nano(5), usage: USAGE, rule: 'hangup_input', flags: [] }
    const searched = [{ name: 'web_search', ...terms(), unsaidUses: 1 }]
    expect(chargeTools(early, searched, undefined, nano(100))).toEqual(early)
  })

  test('a tool charge is limited by the hold, and flagged', () => {
    const tools = [{ name: 'web_search', ...terms() }]
    expect(chargeTools(charged(75), tools, { web_search: 5 }, nano(100))).toMatchObject({
      ...{ cost: 95, flags: ['clamped'] },
      tools: [{ uses: 2, cost: 20 }],
    })
  })
})

const uses = fc.nat({ max: 50 })
const arbitraryTool: fc.Arbitrary<ServerTool> = fc.record(
  {
    name: fc.constantFrom('web_search', 'web_fetch', 'code_execution'),
    usualUses: fc.integer({ min: 1, max: 20 }),
    isLimitable: fc.boolean(),
    tokensPerUse: fc.nat({ max: 50_000 }),
    isReread: fc.boolean(),
    unsaidUses: fc.nat({ max: 1 }),
    field: fc.constant('tools[0]'),
    kind: fc.constant('x'),
    maxUses: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: ['name', 'usualUses', 'isLimitable', 'tokensPerUse', 'isReread', 'unsaidUses', 'field', 'kind'] },
)
const arbitraryPrice: fc.Arbitrary<ToolPrice> = fc.record(
  {
    price: fc.nat({ max: 100_000_000 }).map(nano),
    per: fc.constantFrom('use' as const, 'request' as const),
    maxUses: fc.integer({ min: 1, max: 50 }),
    tokensPerUse: fc.nat({ max: 50_000 }),
  },
  { requiredKeys: ['price', 'per'] },
)
const tokens = fc.nat({ max: 3_000_000 })
const arbitraryUsage = fc.record({
  ...{ uncached: tokens, cacheRead: tokens, cacheWrite5m: tokens, cacheWrite1h: tokens },
  ...{ output: tokens, reasoning: fc.constant(0) },
})

test('for random requests, the hold covers token price plus tool price times uses, unless flagged', () => {
  fc.assert(
    fc.property(
      arbitraryPricing,
      fc.uniqueArray(arbitraryTool, { selector: ({ name }) => name, maxLength: 3 }),
      fc.array(arbitraryPrice, { minLength: 3, maxLength: 3 }),
      fc.dictionary(fc.constantFrom('web_search', 'web_fetch', 'code_execution'), uses),
      arbitraryUsage,
      fc.nat({ max: 300_000 }),
      fc.nat({ max: 10_000 }),
      (pricing, tools, prices, reported, usage, prompt, output) => {
        const toolPrices = new Map(
          ['web_search', 'web_fetch', 'code_execution'].map((name, index) => [name, prices[index] as ToolPrice]),
        )
        const target: Target = { provider: providerOf('p'), model: 'm', quirks: new Set(), toolPrices }
        expect(takesTools(target, tools)).toBe(true)
        const model = { ...modelOf(pricing, output), targets: [target] }
        const bounds = {
          inputTokens: inputWithTools(tools, [target], prompt, model.contextLength),
          outputTokens: output,
        }
        const tokensHeld = worstCaseCost(pricing, bounds.inputTokens, output)
        const held = nano(tokensHeld + dearestTools(tools, [target]))
        const reading: MeterReading = { usage, isUsageStale: false, countedOutput: 0, hasOutput: true, finish: 'stop' }
        const before = decideCharge('complete', reading, pricing, { amount: held, bounds, estimatedInput: prompt })
        const offered = tools.map(({ name, unsaidUses }) => ({
          name,
          unsaidUses,
          ...(toolPrices.get(name) as ToolPrice),
        }))
        const charge = chargeTools(before, offered, reported, held)
        if (charge.kind !== 'charge') throw new Error('a complete answer is charged')
        const listed = charge.tools ?? []
        expect(charge.cost).toBeLessThanOrEqual(held)
        expect(charge.cost).toBe(
          nano(requestCost(pricing, charge.usage) + listed.reduce((sum, { cost }) => sum + cost, 0)),
        )
        for (const { name, uses: count, cost } of listed)
          expect(cost).toBe(nano(count * (toolPrices.get(name)?.price ?? 0)))
        if (charge.flags.includes('clamped')) return
        for (const { name, per, unsaidUses } of offered) {
          const said = reported[name] ?? unsaidUses
          const wanted = per === 'request' ? Math.min(said, 1) : said
          expect(listed.find((tool) => tool.name === name)?.uses ?? 0).toBe(wanted)
        }
      },
    ),
  )
})

test('for random requests, the held input grows with the allowed uses, and no use reads more than the context', () => {
  fc.assert(
    fc.property(arbitraryTool, fc.nat({ max: 300_000 }), (tool, prompt) => {
      const toolPrices = new Map([[tool.name, { price: nano(1), per: 'use' as const }]])
      const target: Target = { provider: providerOf('p'), model: 'm', quirks: new Set(), toolPrices }
      const bound = inputWithTools([tool], [target], prompt, 200_000)
      expect(bound).toBeGreaterThanOrEqual(prompt)
      expect(bound).toBeLessThanOrEqual(Math.max(prompt, 200_000) * 11)
      const more = inputWithTools(
        [{ ...tool, maxUses: (tool.maxUses ?? tool.usualUses) + 1 }],
        [target],
        prompt,
        200_000,
      )
      expect(more).toBeGreaterThanOrEqual(bound - 1)
    }),
  )
})

describe('the provider’s tool bill', () => {
  const tools = [
    { name: 'web_search', price: nano(12), cost: nano(10), per: 'use', unsaidUses: 1 },
    { name: 'google_search', price: nano(40), cost: nano(30), per: 'request', unsaidUses: 0 },
  ] as const

  test('the provider’s tool bill has all reported uses, charged or not, and a price per request if there is one', () => {
    expect(costOfTools(tools, { web_search: 3, google_search: 7, other: 9 }, charged(5))).toBe(60)
    expect(costOfTools(tools, {}, charged(5))).toBe(0)
  })

  test('the provider’s tool bill has the charged uses if none were reported', () => {
    const charge = chargeTools(charged(5), tools, undefined, nano(100))
    expect(costOfTools(tools, undefined, charge)).toBe(10)
    expect(costOfTools(tools, undefined, charged(5))).toBe(0)
  })

  test('the provider’s tool bill is unknown if a used tool has no stated cost', () => {
    const unknown = [{ name: 'web_search', price: nano(12), per: 'use', unsaidUses: 0 }] as const
    expect(costOfTools(unknown, { web_search: 1 }, charged(5))).toBeUndefined()
    expect(costOfTools(unknown, { web_search: 0 }, charged(5))).toBe(0)
  })
})
