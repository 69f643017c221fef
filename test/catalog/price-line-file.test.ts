/** Price lines in the catalogue file: token prices as lines, models sold by other units, and mistakes. */
import { describe, expect, test } from 'bun:test'
import { documentedBlocks } from '@test/deploy/documents/blocks'
import { loadCatalog } from '@/catalog/catalog'
import { changesBetween } from '@/catalog/changes'
import { modelsAtALoss } from '@/catalog/losses'
import { requestCost, worstCaseCost } from '@/catalog/price'
import type { Catalog, Model } from '@/catalog/types'
import type { UnitCount } from '@/chat/units'
import { ZERO_USAGE } from '@/chat/usage'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { ALL_KEYS, faultsOf, type Json, SAMPLE, spoil } from './sample-catalog'

type Fields = { [key: string]: Json | undefined }

const [, BETA] = SAMPLE.models
const CHAT = BETA as unknown as Fields
const PICTURES: Fields = {
  ...{ id: 'svc/beta', kind: 'image', name: 'Painter', created: 1_760_000_000, ownedBy: 'provider1' },
  targets: [{ provider: 'provider1', model: 'painter' }],
  pricing: {
    lines: [
      { billable: 'output_image', unit: 'image', usd: 0.04, costUsd: 0.03 },
      { billable: 'output_image', unit: 'image', variant: 'hd', usd: 0.08, costUsd: 0.09 },
      { billable: 'input_text', unit: 'token', usd: 5, costUsd: 4 },
    ],
  },
  contextLength: 4_000,
}

/** The sample with `model` in the place of svc/beta, which is no fallback or candidate any more. */
function fileWith(model: Json): string {
  const file = JSON.parse(spoil('models.1', model))
  if ((model as Fields).kind !== undefined) {
    delete file.models[0].fallback
    file.tiers[0].candidates = ['svc/alpha']
  }
  return JSON.stringify(file)
}

function catalogWith(model: Json): Catalog {
  const loaded = loadCatalog(fileWith(model), ALL_KEYS)
  assert(loaded.kind === 'loaded', JSON.stringify(loaded))
  return loaded.catalog
}

function load(model: Json): Model {
  const found = catalogWith(model).models.get('svc/beta')
  assert(found, 'the model is offered')
  return found
}

describe('price lines', () => {
  test('lines of text tokens are another way to write the prices of input and output', () => {
    const lines = [
      { billable: 'input_text', unit: 'token', usd: 1, costUsd: 0.5 },
      { billable: 'output_text', unit: 'token', usd: 5, costUsd: 2 },
    ]
    const inLines = load({ ...CHAT, pricing: { lines } })
    const inFields = load({
      ...CHAT,
      pricing: {
        ...{ inputPer1mTokens: 1, outputPer1mTokens: 5 },
        ...{ costPer1mInputTokens: 0.5, costPer1mOutputTokens: 2 },
      },
    })
    expect(inLines.pricing).toEqual(inFields.pricing)
    const [cost] = inFields.targets
    expect(inLines.targets).toMatchObject([{ cost: cost?.cost }])
  })

  test('a model of pictures has a price and a cost for each variant', () => {
    const model = load(PICTURES)
    expect(model).toMatchObject({ kind: 'image', maxOutputTokens: 0, contextLength: 4_000 })
    const units: UnitCount[] = [
      { billable: 'output_image', unit: 'image', count: 1 },
      { billable: 'output_image', unit: 'image', variant: 'hd', count: 2 },
    ]
    const usage = { ...ZERO_USAGE, uncached: 100, units }
    expect(requestCost(model.pricing, usage)).toBe(nano(200_500_000))
    const cost = model.targets[0]?.cost
    expect(cost && requestCost(cost, usage)).toBe(nano(210_400_000))
    expect(
      worstCaseCost(model.pricing, 100, 0, undefined, [{ billable: 'output_image', unit: 'image', count: 3 }]),
    ).toBe(nano(241_000_000))
  })

  test('tokens without a price of their own cost as much as the dearest line of input or output', () => {
    const lines = [
      { billable: 'output_image', unit: 'token', usd: 40 },
      { billable: 'input_image', unit: 'token', usd: 10 },
    ]
    const { base } = load({ ...PICTURES, pricing: { lines } }).pricing
    expect(base).toMatchObject({ input: 10_000_000, cacheRead: 10_000_000, output: 40_000_000 })
  })

  test('a service tier has the standard lines, except those that it prices itself', () => {
    const audio = { billable: 'input_audio', unit: 'token', usd: 40 }
    const image = { billable: 'input_image', unit: 'token', usd: 3 }
    const flex = { inputPer1mTokens: 0.5, outputPer1mTokens: 2.5, lines: [{ ...audio, usd: 20 }] }
    const pricing = { ...(CHAT.pricing as Fields), lines: [audio, image], serviceTiers: { flex } }
    const tier = load({ ...CHAT, pricing }).pricing.serviceTiers?.get('flex')
    expect(tier?.lines?.map(({ billable, price }) => [billable, price])).toEqual([
      ['input_audio', 20_000_000],
      ['input_image', 3_000_000],
    ] as never)
  })

  test('changed line prices are listed, and line prices below cost are reported as losses', () => {
    const [before, after] = [
      catalogWith(PICTURES),
      catalogWith(JSON.parse(JSON.stringify(PICTURES).replace('0.04', '0.05'))),
    ]
    expect(changesBetween(before, after)).toEqual([
      { what: 'model svc/beta price output_image per image', before: '$0.04', after: '$0.05' },
    ])
    expect(modelsAtALoss(before)).toEqual([
      { model: 'svc/beta', losses: ['output_image per image (hd): sold at $0.08, costs $0.09 at provider1'] },
    ])
  })

  test('each kind of model loads with a price in a unit of its answers', () => {
    const kinds: [string, string, string][] = [
      ['image', 'output_image', 'token'],
      ['speech', 'input_text', 'character'],
      ['speech', 'output_audio', 'token'],
      ['transcription', 'input_audio', 'second'],
      ['transcription', 'input_audio', 'token'],
      ['rerank', 'request', 'search_unit'],
    ]
    for (const [kind, billable, unit] of kinds) {
      expect(load({ ...PICTURES, kind, pricing: { lines: [{ billable, unit, usd: 1 }] } }).kind).toBe(kind as never)
    }
  })
})

test('the price lines of the documentation are valid', async () => {
  const block = (await documentedBlocks()).find(({ info }) => info === 'json lines')
  const stated = JSON.parse(`{${block?.text}}`) as Fields
  expect(load({ ...PICTURES, ...stated }).pricing.lines).toHaveLength(3)
})

describe('faulty price lines', () => {
  const line = (changes: Fields): Fields => ({ billable: 'output_image', unit: 'image', usd: 0.04, ...changes })
  const pictures = (...lines: Fields[]): Json => ({ ...PICTURES, pricing: { lines } })
  const cases: [Json, string][] = [
    [pictures(line({ unit: 'second' })), 'pricing.lines[0].unit: expected one of token, image for output_image'],
    [pictures(line({}), line({})), 'pricing.lines[1]: output_image per image is listed twice'],
    [
      pictures(line({ unit: 'token', variant: 'hd' })),
      'pricing.lines[0].variant: is only for images, seconds, characters and search units',
    ],
    [pictures(line({ usd: 1e-13 })), 'pricing.lines[0]: has a price finer than 0.000000000001 USD, or above 1,000 USD'],
    [
      pictures(line({ usd: -1 })),
      'pricing.lines[0].usd: expected a price in USD per image, second, search unit or request, or per 1,000,000 tokens or characters',
    ],
    [
      pictures(line({ variant: 'a b' })),
      'pricing.lines[0].variant: expected a name of letters, digits, . _ and -, such as hd',
    ],
    [
      pictures(line({ billable: 'input_image' })),
      'pricing: a model of kind image needs a price of output_image per image, or of output_image per token',
    ],
    [
      { ...PICTURES, kind: 'rerank', pricing: { lines: [line({})] } },
      'pricing: a model of kind rerank needs a price of request per search_unit, or of input_text per token',
    ],
    [
      pictures(line({ costUsd: 0.03 }), line({ billable: 'input_image' })),
      'pricing.lines: has no cost of input_image per image, where another cost is named',
    ],
    [
      {
        ...PICTURES,
        targets: [{ provider: 'provider1', model: 'painter', cost: { lines: [line({ billable: 'input_image' })] } }],
      },
      'targets[0].cost.lines: has no cost of output_image per image, where another cost is named',
    ],
    [
      { ...PICTURES, kind: 'speech', pricing: { lines: [line({ billable: 'output_audio', unit: 'second' })] } },
      'pricing: a model of kind speech needs a price of input_text per character, or of input_text per token, or of output_audio per token',
    ],
    [
      { ...CHAT, pricing: { inputPer1mTokens: 1, lines: [] } },
      'pricing.outputPer1mTokens: is missing; expected a price in USD per 1,000,000 tokens',
    ],
    [
      { ...CHAT, pricing: { ...(CHAT.pricing as Fields), lines: [{ billable: 'input_text', unit: 'token', usd: 1 }] } },
      'pricing.inputPer1mTokens: is also stated in lines',
    ],
    [
      { ...CHAT, pricing: { ...(CHAT.pricing as Fields), lines: [line({})] } },
      'pricing.lines[0].unit: a model of kind chat is sold by token, and by request',
    ],
    [
      {
        ...CHAT,
        pricing: {
          ...(CHAT.pricing as Fields),
          serviceTiers: {
            flex: {
              ...{ inputPer1mTokens: 1, outputPer1mTokens: 1 },
              lines: [{ billable: 'input_audio', unit: 'token', usd: 1 }],
            },
          },
        },
      },
      "pricing.serviceTiers.flex.lines: input_audio per token has no price in the model's pricing.lines",
    ],
  ]

  test.each(cases)('the faulty model %j has one error', (model, fault) => {
    expect(faultsOf(fileWith(model))).toContain(`models[1].${fault}`)
  })

  test('a model of pictures may be neither the fallback of a chat model nor the candidate of a tier', () => {
    expect(faultsOf(spoil('models.1', PICTURES))).toEqual([
      'models[0].fallback[0]: svc/beta is of kind image, and answers no conversation',
      'tiers[0].candidates[0]: svc/beta is of kind image, and answers no conversation',
    ])
  })
})
