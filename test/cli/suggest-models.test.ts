/** From a provider's key to a catalogue that sells its models: the suggested file loads unchanged, and each target works. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { exists, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGateway } from '@test/support/gateway'
import type { ScriptedUpstream } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { KEY, sixtyModels, startListingProvider } from './listing-provider'
import { type Outcome, run } from './run'

type Case = {
  name: string
  /** The vendor as the public sources name it. */
  lister: string
  list: Parameters<typeof startListingProvider>[0]
  format: FormatName
  newest: string
  /** Models of the vendor that are not sold: other kinds, retired ones and previews. */
  others: string[]
  environment(url: string): Record<string, string>
  pages: number
}

const CASES: Case[] = [
  {
    ...{
      name: 'openai',
      lister: 'openai',
      list: 'openai',
      format: 'chat-completions',
      newest: 'gpt-6.1-sol',
      pages: 1,
    },
    others: ['ada', 'davinci-002', 'tts-1', 'whisper-1', 'gpt-image-1', 'gpt-4-1106-preview', 'ft:gpt-4o:us::1'],
    environment: (url) => ({ OPENAI_API_KEY: KEY, PROVIDER1_BASE_URL: `${url}/v1` }),
  },
  {
    ...{
      name: 'anthropic',
      lister: 'anthropic',
      list: 'anthropic',
      format: 'messages',
      newest: 'claude-opus-5-5',
      pages: 3,
    },
    others: ['claude-mythos-preview'],
    environment: (url) => ({ ANTHROPIC_API_KEY: KEY, PROVIDER2_BASE_URL: url }),
  },
  {
    ...{
      name: 'google',
      lister: 'google',
      list: 'google',
      format: 'generate-content',
      newest: 'gemini-4-argon',
      pages: 3,
    },
    others: ['claude-opus-5-5', 'gemini-3.1-flash-tts-preview', 'gemini-exp-1206', 'veo-4'],
    environment: (url) => ({ PROVIDER3_API_KEY: KEY, PROVIDER3_BASE_URL: url }),
  },
  {
    ...{
      name: 'mistral',
      lister: 'mistral',
      list: 'openai',
      format: 'chat-completions',
      newest: 'mistral-large-4',
      pages: 1,
    },
    others: ['mistral-ocr-latest'],
    environment: () => ({ MISTRAL_API_KEY: KEY }),
  },
  {
    ...{ name: 'together', lister: 'together', list: 'array', format: 'chat-completions', pages: 1 },
    newest: 'Qwen/Qwen3.7-Max',
    others: [],
    environment: () => ({ TOGETHER_API_KEY: KEY }),
  },
]

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalog-suggest-'))
})
afterAll(() => rm(folder, { recursive: true }))

const suggest = (args: string[], environment: Record<string, string>): Promise<Outcome> =>
  run(['catalog', 'suggest', ...args], { REDIS_URL: 'redis://127.0.0.1:1', ...environment })

describe.each(CASES)(
  'catalog suggest for $name',
  ({ name, lister, list, format, newest, others, environment, pages }) => {
    let provider: ScriptedUpstream
    let file: string
    let suggested: Outcome
    let variables: Record<string, string>

    beforeAll(async () => {
      provider = startListingProvider(list, format, sixtyModels(lister, [newest, ...others]))
      file = join(folder, `${name}.json`)
      variables = environment(provider.url)
      const isPreset = Object.keys(variables).length === 1
      const address = isPreset ? ['--base-url', provider.url] : []
      suggested = await suggest(['--provider', name, '--file', file, ...address], variables)
    })
    afterAll(() => provider.stop())

    async function entries(): Promise<JsonObject[]> {
      return ((await Bun.file(file).json()) as { models: JsonObject[] }).models
    }

    test(`${name}: catalog suggest reads the whole list of sixty models, and counts offered and omitted ones`, () => {
      expect(suggested).toMatchObject({ code: 0, json: { file, provider: name, marginPercent: 10, listed: 60 } })
      expect(provider.calls.filter(({ path }) => path.includes('/models?') || path.endsWith('/models'))).toHaveLength(
        pages,
      )
      const { models, unknown } = suggested.json
      expect(Number(models)).toBeGreaterThan(5)
      expect(Number(unknown)).toBeGreaterThanOrEqual(5)
    })

    test(`${name}: catalog suggest offers the newest model, and no retired, preview or other kind of model`, async () => {
      const targets = (await entries()).map(({ targets }) => (targets as { model: string }[])[0]?.model)
      expect(targets).toContain(newest)
      for (const other of others) expect(targets).not.toContain(other)
    })

    test(`${name}: catalog suggest states day and source of each entry, and prices ten percent above cost`, async () => {
      for (const { source, pricing } of await entries()) {
        expect(source).toMatch(/^prices of \d{4}-\d\d-\d\d by .+ of \d{4}-\d\d-\d\d; limits by .+ of \d{4}-\d\d-\d\d$/)
        const { inputPer1mTokens, costPer1mInputTokens } = pricing as { [field: string]: number }
        expect(Number(inputPer1mTokens)).toBeCloseTo(Number(costPer1mInputTokens) * 1.1, 5)
      }
    })

    test(`${name}: catalog suggest names each model with an unknown value, and its field`, () => {
      expect(suggested.stderr).toMatch(/^left out: unheard-of-0: nobody lists kind, capabilities, pricing/m)
    })

    test(`${name}: the suggested file loads without an edit`, async () => {
      const checked = await run(['catalog', 'check', file], variables)
      expect(checked).toMatchObject({
        code: 0,
        json: { ok: true, faults: [], losses: [], withoutKey: [], notOffered: [] },
      })
    })

    test(`${name}: each target of the suggested file works`, async () => {
      const { providers } = (await Bun.file(file).json()) as { providers: JsonObject }
      for (const one of Object.keys(providers)) {
        const tried = await run(['provider', 'test', one], { ...variables, CATALOG: file })
        expect(tried).toMatchObject({ code: 0, json: { ok: true, faults: [] } })
      }
    })
  },
)

test('a gateway sells the newest suggested model under the vendor’s own name', async () => {
  const provider = startListingProvider('anthropic', 'messages', ['claude-opus-5-5'])
  const file = join(folder, 'sold.json')
  const variables = { ANTHROPIC_API_KEY: KEY, PROVIDER2_BASE_URL: provider.url }
  expect(await suggest(['--provider', 'anthropic', '--file', file], variables)).toMatchObject({ code: 0 })
  const written = await Bun.file(file).json()
  const gateway = await startGateway({
    respond: () => new Response('{}', { status: 500 }),
    environment: variables,
    catalog: (sold) => Object.assign(sold, { ...written, tiers: [] }),
  })
  const { key } = await gateway.customer('10')
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  // 20 tokens of input at $4.40 and 4 of output at $22 per million.
  expect([response.status, response.headers.get('x-svc-cost-usd')]).toEqual([200, '0.000176'])
  await gateway.stop()
  provider.stop()
})

describe('options of catalog suggest', () => {
  const IDS = ['gpt-6.1-sol', 'gpt-5.2', 'gpt-4', 'gpt-5.5-pro', 'gpt-4o-mini-search-preview', 'text-embedding-3-small']
  let provider: ScriptedUpstream
  let variables: Record<string, string>
  let count = 0

  beforeAll(() => {
    provider = startListingProvider('openai', 'chat-completions', IDS)
    variables = { PROVIDER1_API_KEY: KEY, PROVIDER1_BASE_URL: provider.url }
  })
  afterAll(() => provider.stop())

  async function written(...args: string[]): Promise<{ models: JsonObject[]; providers: JsonObject; stderr: string }> {
    count += 1
    const file = join(folder, `options-${count}.json`)
    const { code, stderr } = await suggest(['--provider', 'openai', '--file', file, ...args], variables)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return { ...(await Bun.file(file).json()), stderr }
  }

  test('--margin 0 sets each price to the cost', async () => {
    const { models } = await written('--margin', '0', '--models', 'gpt-6.1-sol')
    expect(models).toMatchObject([
      { id: 'svc/gpt-6.1-sol', aliases: ['gpt-6.1-sol'], created: 1_790_000_000, pricing: { inputPer1mTokens: 2 } },
    ])
  })

  test('--all also offers retired models and previews, which are otherwise only listed', async () => {
    const ids = ({ models }: { models: JsonObject[] }) => models.map(({ id }) => id)
    const usual = await written()
    expect(ids(usual)).not.toContain('svc/gpt-4')
    expect(usual.stderr).toContain('left out, unless --all: gpt-4, gpt-4o-mini-search-preview: retired or a preview')
    expect(ids(await written('--all'))).toContain('svc/gpt-4')
  })

  test('--models takes only the named models, and reports names that the provider does not list', async () => {
    const { models, stderr } = await written('--models', 'gpt-5.2, gpt-0')
    expect(models.map(({ id }) => id)).toEqual(['svc/gpt-5.2'])
    expect(stderr).toContain('left out: gpt-0: the provider does not list it')
  })

  test('a model that only responses serves gets a second provider', async () => {
    const { models, providers } = await written('--models', 'gpt-5.5-pro')
    expect(models).toMatchObject([{ targets: [{ provider: 'openai-responses', model: 'gpt-5.5-pro' }] }])
    expect(providers['openai-responses']).toMatchObject({ format: 'responses' })
  })

  test('a suggested embedding model has an input price and no other price', async () => {
    const { models } = await written('--models', 'text-embedding-3-small')
    expect(models).toMatchObject([{ kind: 'embedding', pricing: { inputPer1mTokens: 0.022 } }])
    expect(models[0]?.maxOutputTokens).toBeUndefined()
  })
})

describe('errors of catalog suggest', () => {
  const ANSWERS: Record<string, () => Response> = {
    empty: () => Response.json({ object: 'list', data: [] }),
    unsold: () => Response.json({ data: [{ id: 'tts-1' }, { id: 'unheard-of' }] }),
    html: () => new Response('<html>'),
    moved: () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    refused: () =>
      Response.json(
        { error: { message: `Incorrect API key provided: ${KEY}`, type: 'invalid_request_error' } },
        { status: 401 },
      ),
  }
  let provider: ScriptedUpstream
  beforeAll(() => {
    provider = startListingProvider('openai', 'chat-completions', [])
  })
  afterAll(() => provider.stop())

  test.each([
    [['--provider', 'openai', '--margin', 'much'], {}, '--margin must be a percentage from 0 to 10000'],
    [['--provider', 'openai', '--margin', '10001'], {}, '--margin must be a percentage from 0 to 10000'],
    [['--provider', 'openai', '--margin', '-5'], {}, '--margin must be a percentage from 0 to 10000'],
    [['--margin', '5'], {}, 'catalog suggest needs --provider'],
    [['--provider', 'nobody'], {}, '--provider: nobody lists prices of nobody; expected one of anthropic, azure'],
    [['--provider', '__proto__'], {}, '--provider: nobody lists prices of __proto__'],
    [['--provider', 'ollama'], {}, 'nobody lists prices of ollama'],
    [['--provider', 'openai'], {}, 'openai has no key: set PROVIDER1_API_KEY or OPENAI_API_KEY'],
    [['--provider', 'groq'], {}, 'groq has no key: set GROQ_API_KEY'],
    [['--provider', 'openai', '--base-url', 'file:///etc'], { OPENAI_API_KEY: KEY }, '--base-url must be'],
    [['--provider', 'vertex'], {}, 'GOOGLE_CLOUD_PROJECT'],
  ])('catalog suggest refuses %j and writes no file', async (args, environment, words) => {
    const file = join(folder, 'never.json')
    const { code, stderr, stdout } = await suggest([...args, '--file', file], environment)
    expect({ code: code > 0, stdout }).toEqual({ code: true, stdout: '' })
    expect(stderr).toContain(words)
    expect(await exists(file)).toBe(false)
  })

  test.each([
    ['empty', 'openai: its list of models is empty'],
    ['unsold', 'none of the 2 models of openai can be offered'],
    ['html', 'openai: malformed: its answer is no list of models'],
    ['moved', 'openai: unreachable'],
    ['refused', 'openai: 401'],
  ])('catalog suggest writes no file if the provider’s answer is %s', async (answer, words) => {
    provider.respond(ANSWERS[answer] ?? (() => new Response()))
    const file = join(folder, 'never.json')
    const environment = { OPENAI_API_KEY: KEY, PROVIDER1_BASE_URL: provider.url }
    const { code, stderr } = await suggest(['--provider', 'openai', '--file', file], environment)
    expect(code).toBe(1)
    expect(stderr).toContain(words)
    expect(stderr).not.toContain(KEY)
    expect(await exists(file)).toBe(false)
  })

  test('catalog suggest fails if the pages of a list never end', async () => {
    provider.respond(() =>
      Response.json({ data: [{ id: 'claude-opus-5-5' }], has_more: true, last_id: 'claude-opus-5-5' }),
    )
    const environment = { ANTHROPIC_API_KEY: KEY, PROVIDER2_BASE_URL: provider.url }
    const { stderr } = await suggest(['--provider', 'anthropic', '--file', join(folder, 'never.json')], environment)
    expect(stderr).toContain('anthropic: its list of models does not end')
  })

  test('catalog suggest does not overwrite a file, and then does not call the provider', async () => {
    const file = join(folder, 'mine.json')
    await Bun.write(file, 'mine')
    const before = provider.calls.length
    const environment = { OPENAI_API_KEY: KEY, PROVIDER1_BASE_URL: provider.url }
    const { code, stderr } = await suggest(['--provider', 'openai', '--file', file], environment)
    expect([code, stderr]).toEqual([1, `--file: ${file} exists already; name another file\n`])
    expect([await Bun.file(file).text(), provider.calls.length]).toEqual(['mine', before])
  })

  test('catalog suggest names a file that it cannot write', async () => {
    provider.respond(() => Response.json({ data: [{ id: 'gpt-6.1-sol' }] }))
    const environment = { OPENAI_API_KEY: KEY, PROVIDER1_BASE_URL: provider.url }
    const file = join(folder, 'nowhere', 'a.json')
    const { stderr } = await suggest(['--provider', 'openai', '--file', file], environment)
    expect(stderr).toBe(`--file: cannot write ${file} (ENOENT)\n`)
  })
})
