/** The table of field outcomes is what the gateway does: every field of every format, at providers of every format. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ScriptedModels, soundAnswer, startScriptedModels } from '@test/gateway/scripted-models'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { fateOf, listFields, yieldsToLoss } from '@/formats/field-fates'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { SAMPLES } from './field-samples'
import { BASE, type Overlay, type Sample } from './sample-words'

let world: ScriptedModels
const models = new Map<FormatName, string>()
let received: unknown
beforeAll(async () => {
  const pictures = { lines: [{ billable: 'output_image', unit: 'token', usd: 3 }] }
  world = await startScriptedModels({ passFields: ['service_tier'] }, { toolPrices: { web_search: 0 } }, {}, pictures)
  for (const format of FORMAT_NAMES) {
    const model = world.modelWith(format, ({ body }) => {
      received = body
      return soundAnswer(format, false)
    })
    models.set(format, model)
  }
})
afterAll(() => world.gateway.stop())

/** What the gateway does whoever answers, in fields that the test cannot choose: the model, whether to stream, and the fallback. */
const BY_EVERY_TEST = ['model', 'stream', 'fallback', 'models']
/** What is asked for is what the provider does anyway, and not said. */
const DONE_ANYWAY = ['service_tier: messages to generate-content']
/** Names of betas in the body are those of the header, and left out by its name where the provider's format has none. */
const READ_AS_HEADER = ['betas', 'anthropic_beta']
function formatNamed(name: FormatName) {
  const format = FORMATS.get(name)
  assert(format, 'the format is known')
  return format
}

const CASES = FORMAT_NAMES.flatMap((client) =>
  FORMAT_NAMES.flatMap((provider) =>
    Object.entries(SAMPLES[client]).map(([field, sample]) => ({ client, provider, field, sample })),
  ),
)

test.each([...FORMAT_NAMES])('each field of %s has a sample', (name) => {
  const unlisted = Object.keys(SAMPLES[name]).filter((field) => /^x_?[uU]nheard/.test(field))
  const isByEveryTest = (field: string) =>
    BY_EVERY_TEST.includes(field) || (field === 'fallbacks' && name !== 'messages')
  const expected = [...listFields(formatNamed(name)), ...unlisted].filter((field) => !isByEveryTest(field))
  expect(Object.keys(SAMPLES[name]).sort()).toEqual(expected.sort())
  expect(unlisted).toHaveLength(1)
})

describe.each(CASES)('$field: $client to $provider', ({ client, provider, field, sample }) => {
  const isUnlisted = /^x_?[uU]nheard/.test(field)
  const fate = isUnlisted ? 'named' : fateOf(field, formatNamed(client), formatNamed(provider))

  test(`the field is treated as ${fate}`, async () => {
    const { body, without } = bodiesOf(field, sample)
    const plain = await askPlain(client, provider, without)
    const asked = await ask(client, provider, body)
    if (fate === 'refused') return expectRefusal(asked, field)
    expect([asked.status, asked.text]).toEqual([200, expect.any(String)])
    const named =
      fate === 'named' ? [field] : READ_AS_HEADER.includes(field) && client !== provider ? ['anthropic-beta'] : []
    expect(asked.leftOut).toEqual([...plain.leftOut, ...named])
    if (fate === 'named') expect(asked.received).toEqual(plain.received)
    if (fate === 'heeded' && client !== provider) expect(asked.received).toEqual(plain.received)
    if (fate === 'translated') {
      const isSaid = !DONE_ANYWAY.includes(`${field}: ${client} to ${provider}`)
      expect(Bun.deepEquals(asked.received, plain.received)).toBe(!isSaid)
    }
    if (fate === 'carried') expect(Bun.deepEquals(asked.received, plain.received)).toBe(false)
  })

  if (fate !== 'refused') return
  const isYielding = yieldsToLoss(field, formatNamed(client))

  test(`the field is ${isYielding ? 'omitted and named' : 'still refused'} if the caller accepts the loss`, async () => {
    const { body, without } = bodiesOf(field, sample)
    const plain = await askPlain(client, provider, without, { 'x-svc-lossy': 'true' })
    const asked = await ask(client, provider, { ...body, svc: { lossy: true } })
    if (!isYielding) return expectRefusal(asked, field)
    expect([asked.status, asked.text]).toEqual([200, expect.any(String)])
    expect(asked.leftOut).toContain(field)
    expect(asked.received).toEqual(plain.received)
  })
})

type Asked = { status: number; text: string; leftOut: string[]; received: unknown }

function expectRefusal({ status, text, received: sent }: Asked, field: string): void {
  expect([status, text]).toEqual([400, expect.stringContaining(field.split('.').at(-1) ?? field)])
  expect(sent).toBeUndefined()
}

async function ask(client: FormatName, provider: FormatName, body: Overlay, headers = {}): Promise<Asked> {
  received = undefined
  const model = models.get(provider) ?? ''
  const { response, text } = await world.ask({ format: client, model, headers, body: { ...BASE[client], ...body } })
  const leftOut = response.headers.get('x-svc-left-out')?.split(', ') ?? []
  return { status: response.status, text, leftOut, received }
}

/** The outcomes of requests without the field: most fields share one, which is asked once. */
const plainOutcomes = new Map<string, Asked>()

async function askPlain(client: FormatName, provider: FormatName, body: Overlay, headers = {}): Promise<Asked> {
  const key = JSON.stringify([client, provider, body, headers])
  const outcome = plainOutcomes.get(key) ?? (await ask(client, provider, body, headers))
  plainOutcomes.set(key, outcome)
  return outcome
}

function bodiesOf(field: string, sample: Sample): { body: Overlay; without: Overlay } {
  if ('body' in sample) return sample
  const { value, beside = {} } = sample
  return { body: { ...beside, [field]: value }, without: beside }
}
