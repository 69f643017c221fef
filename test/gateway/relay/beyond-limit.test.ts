/**
 * Answers beyond their output limit: a stream is cut near it. The charge is what our count confirms and the hold
 * covers, otherwise the limit.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { exactTokens } from '@test/catalog/exact-tokens'
import { FORMATS, type FormatName } from '@test/gateway/scripted-models'
import { piecesOf, questionIn, readTold, type Told, wholeOf } from '@test/gateway/told-in-pieces'
import { PRICE, spentAtRest } from '@test/money-bugs/support'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { liveStream } from '@test/support/upstream'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Promise(() => {}),
    catalog(file) {
      const root = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const [alpha] = file.models
      for (const format of FORMATS) {
        const baseUrl = format === 'chat-completions' || format === 'responses' ? `${root}/v1` : root
        file.providers[format] = { ...file.providers.provider1, format, baseUrl }
        file.models.push({ ...alpha, id: `svc/${format}`, targets: [{ provider: format, model: 'x' }] })
      }
    },
  })
})
afterAll(() => gateway.stop())

const LENGTH: Record<FormatName, string> = {
  'chat-completions': 'length',
  messages: 'max_tokens',
  'generate-content': 'MAX_TOKENS',
  responses: 'max_output_tokens',
}
const PAIRS = FORMATS.flatMap((client) => FORMATS.map((provider) => [client, provider] as const))
/** One token each. */
const words = (count: number) => Array.from({ length: count }, (_, index) => (index % 9 === 8 ? ' word.' : ' word'))

type Answer = { spent: number; text: string; finish: string | undefined; wire: string }

async function ask(client: FormatName, provider: FormatName, stream: boolean, limit: number): Promise<Answer> {
  const { accountId, key } = await gateway.customer('1')
  const { path, body } = questionIn(client, `svc/${provider}`, { stream, limit })
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const wire = await response.text()
  return { ...readTold(client, wire), wire, spent: await spentAtRest(gateway, accountId) }
}

function streams(provider: FormatName, texts: readonly string[], told: Told): void {
  gateway.upstream.respond(() => {
    const { texts: said, stop, usage, end } = piecesOf(provider, texts, told)
    const live = liveStream()
    for (const text of [...said, stop, usage, end]) if (text !== '') live.write(text)
    live.close()
    return live.response
  })
}

/** What was streamed is what the last words say, item by item. */
function expectOneStory(wire: string): void {
  const events = wire.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
  const told = events.map(({ delta = '' }) => delta).join('')
  const { output, status } = events.at(-1).response
  expect([status, output.length, output[0].content[0].text]).toEqual(['incomplete', 1, told])
  expect(new Set(events.flatMap(({ item_id, item }) => item_id ?? item?.id ?? []))).toEqual(new Set([output[0].id]))
}

const outputOf = (spent: number) => Math.round(spent / PRICE.output)

describe('streams and the output limit', () => {
  test.each(PAIRS)(
    'a stream of 6,050 tokens with a limit of 500 is cut near 500 and charged: %s client, %s provider',
    async (client, provider) => {
      streams(provider, words(6_050), { input: 10, output: 6_050 })
      const { text, finish, spent } = await ask(client, provider, true, 500)
      const delivered = exactTokens(text)
      expect(delivered).toBeGreaterThan(500)
      expect(delivered).toBeLessThan(1_200)
      expect(finish).toBe(LENGTH[client])
      expect(outputOf(spent)).toBeGreaterThan(500)
      expect(outputOf(spent)).toBeLessThanOrEqual(delivered + 20)
    },
  )

  test.each(FORMATS)('a stream of a %s provider that exceeds its output limit is stopped', async (format) => {
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    const asked = ask(format, format, true, 100)
    for (const text of piecesOf(format, words(1_000), { input: 10, output: 0 }).texts) live.write(text)
    const { text, finish } = await asked
    await until(() => gateway.upstream.calls.at(-1)?.isAborted, 'the provider to be stopped')
    expect(finish).toBe(LENGTH[format])
    expect(exactTokens(text)).toBeLessThan(300)
  })

  test.each(FORMATS)('a stream that was stopped at its output limit ends normally for %s clients', async (format) => {
    streams(format, words(1_900), { input: 10, output: 1_900 })
    const { wire } = await ask(format, format, true, 1)
    expect(wire).not.toMatch(/error"?:(?! ?null)/)
    if (format === 'responses') expectOneStory(wire)
    if (format === 'chat-completions') expect(wire).toEndWith('data: [DONE]\n\n')
    if (format === 'messages') {
      expect(wire.match(/event: content_block_start/g)).toHaveLength(1)
      expect(wire.match(/event: content_block_stop\ndata: {"type":"content_block_stop","index":0}/g)).toHaveLength(1)
      expect(wire).toContain('event: message_stop')
    }
    if (format === 'generate-content') expect(wire).toContain('"totalTokenCount"')
  })

  test.each(FORMATS)('a stream of a %s provider within its limit is not cut, in any language', async (format) => {
    const texts = '人工智能正在改变我们的生活方式。'.repeat(30).match(/.{1,3}/g) ?? []
    const own = Math.floor(exactTokens(texts.join('')) / 1.3)
    streams(format, texts, { input: 10, output: own })
    const { text, spent } = await ask(format, format, true, own)
    expect(text).toBe(texts.join(''))
    expect(spent).toBe(10 * PRICE.input + own * PRICE.output)
  })
})

describe('whole answers beyond the output limit', () => {
  const text = words(6_050).join('')

  test.each(PAIRS)(
    'a whole answer is cut after the part that is charged: %s client, %s provider',
    async (client, provider) => {
      gateway.upstream.respond(() => Response.json(wholeOf(provider, text, { input: 10, output: 6_050 })))
      const { text: told, finish, spent } = await ask(client, provider, false, 500)
      expect(outputOf(spent)).toBeGreaterThanOrEqual(500)
      const delivered = exactTokens(told)
      expect(Math.abs(delivered - outputOf(spent))).toBeLessThan(60)
      expect(finish).toBe(LENGTH[client])
    },
  )

  test.each(FORMATS)(
    'an answer slightly beyond its limit is sent and charged in full if our count agrees: %s',
    async (format) => {
      const little = words(120).join('')
      gateway.upstream.respond(() => Response.json(wholeOf(format, little, { input: 10, output: 120 })))
      const { text: told, spent } = await ask(format, format, false, 100)
      expect(told).toBe(little)
      expect(spent).toBe(10 * PRICE.input + 120 * PRICE.output)
    },
  )

  test.each(FORMATS)(
    'if a %s provider reports more output than its whole answer has, the charge stops at the limit',
    async (format) => {
      gateway.upstream.respond(() => Response.json(wholeOf(format, 'A short one.', { input: 10, output: 6_050 })))
      const { text: told, spent } = await ask(format, format, false, 500)
      expect(told).toBe('A short one.')
      expect(spent).toBe(10 * PRICE.input + 500 * PRICE.output)
    },
  )
})

describe('hidden reasoning beyond the output limit', () => {
  test.each(FORMATS.flatMap((client) => [true, false].map((stream) => [client, stream] as const)))(
    'hidden reasoning is charged as output: %s client, streaming %p',
    async (client, stream) => {
      const told = { input: 100, output: 10, total: 610 }
      if (stream) streams('chat-completions', ['An', ' answer'], told)
      else gateway.upstream.respond(() => Response.json(wholeOf('chat-completions', 'An answer', told)))
      const { spent } = await ask(client, 'chat-completions', stream, 10_000)
      expect(spent).toBe(100 * PRICE.input + 510 * PRICE.output)
    },
  )
})
