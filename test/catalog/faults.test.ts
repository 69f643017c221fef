/** Faulty catalogues: every mistake is reported at once, with its place and a helpful text. */
import { describe, expect, test } from 'bun:test'
import { ALL_KEYS, faultsOf, type Json, SAMPLE, spoil, variable } from './sample-catalog'

const MODEL: Json = { ...SAMPLE.models[1], id: 'svc/gamma' } as unknown as Json
const list = (...items: unknown[]) => items as Json

/** A changed place, its new value, and the one fault of it. A fault of a place inside the value begins with a dot. */
const CASES: [string, Json | undefined, string][] = [
  [
    'models.1.pricing',
    { ...SAMPLE.models[1]?.pricing, costPer1mInputTokens: 0.5 },
    '.costPer1mOutputTokens: is missing, where another cost is named',
  ],
  [
    'models.1.targets.0.cost',
    { costPer1mOutputTokens: 0.0000001, costPer1mInputTokens: 1 },
    '.costPer1mOutputTokens: is finer than 0.000001 USD per 1,000,000 tokens',
  ],
  [
    'models.1.targets.0.cost',
    { costPer1mOutputTokens: 1, costPer1mInputTokens: 1, inputPer1mTokens: 1 },
    '.inputPer1mTokens: is not a known property',
  ],
  [
    'models.1.pricing.toolPrices',
    { web_serach: 0.01 },
    '.web_serach: is no tool of any format; expected one of web_search, web_fetch, code_execution, google_search, google_search_retrieval, url_context, code_interpreter',
  ],
  ['models.1.pricing.toolPrices', { web_search: 0.0000000001 }, '.web_search: is finer than 0.000000001 USD'],
  [
    'models.1.targets.0.toolPrices',
    { web_search: { usd: 0.01, maxUses: 0 } },
    '.web_search: expected a price in USD for each use, or {"usd": …, "costUsd": …, "per": "use" or "request", "maxUses": …, "tokensPerUse": …}',
  ],
  [
    'models.1.targets.0.toolPrices',
    { web_search: -1 },
    '.web_search: expected a price in USD for each use, or {"usd": …, "costUsd": …, "per": "use" or "request", "maxUses": …, "tokensPerUse": …}',
  ],
  ['service', undefined, 'is missing; expected a lower-case word'],
  ['service', 'S V C', 'expected a lower-case word'],
  ['surprise', 1, 'is not a known property'],
  ['providers', {}, 'expected an object with at least one provider'],
  ['models', [], 'expected a list of at least one model'],
  ['limits.concurrency', 0, 'expected a positive whole number'],
  ['limits.requestPerMinute', 5, 'is not a known property'],

  ['providers.provider2.baseUrl', 'two.example', 'expected an http:// or https:// address'],
  ['providers.provider2.baseUrl', 'file:///etc', 'expected an http:// or https:// address'],
  ['providers.provider2.baseUrl', 'http://', 'expected an http:// or https:// address'],
  ['providers.provider2.baseUrl', 'https://me:pw@two', 'must not contain a user or password'],
  ['providers.provider2.baseUrl', 'https://two/?a=1', 'must not contain a query or fragment'],
  ['providers.provider2.baseUrl', 'https://two/#', 'must not contain a query or fragment'],
  ['providers.provider2.baseUrl', undefined, 'is missing; expected an http:// or https:// address'],
  ['providers.provider2.format', 'soap', 'expected one of chat-completions, messages, generate-content, responses'],
  ['providers.provider2.keys', [], 'expected a list of at least one key'],
  ['providers.provider2.keys', 'key', 'expected a list of at least one key'],
  [
    'providers.provider2.keys',
    ['a', { key: 'b' }],
    '[1]: expected a key, or {"key": …, "weight": a number above 0 and at most 1000}',
  ],
  ['providers.provider2.keys', ['a', 'b', 'a'], '[2]: is the same key as an earlier one'],
  ['providers.provider2.keys', ['a\nb'], '[0]: has characters that are not allowed in a header'],
  ['providers.provider2.keys', [' a'], '[0]: has characters that are not allowed in a header'],
  [
    'providers.provider2.apiVersion',
    'v1',
    'only a provider of format generate-content or dialect azure-openai has a version in its paths',
  ],
  ['providers.provider3.apiVersion', '../v1', 'expected a version such as v1beta'],
  [
    'providers.provider2.timeouts',
    { idleMs: 0 },
    '.idleMs: expected a positive whole number of milliseconds, at most 86400000',
  ],
  ['providers.provider2.timeouts', { firstByteMs: 9, totalMs: 5 }, '.firstByteMs: must not exceed totalMs'],
  ['providers.provider2.timeouts', { connectMs: 9, firstByteMs: 5 }, '.connectMs: must not exceed firstByteMs'],
  ['providers.provider2.timeouts', { idleMs: 9, totalMs: 5 }, '.idleMs: must not exceed totalMs'],
  ['providers.provider2.timeouts', { readMs: 5 }, '.readMs: is not a known property'],
  ['providers.provider2.maxConcurrency', 0.5, 'expected a positive whole number'],
  ['providers.provider2.headers', { 'X-Api-Key': 'a' }, '.X-Api-Key: is set by the gateway itself'],
  ['providers.provider2.headers', { 'x y': 'a' }, '.x y: is not a header name'],
  ['providers.provider2.headers', { 'x-y': 'a\r\nb' }, '.x-y: has characters that are not allowed in a header'],
  ['providers.provider2.onDisconnect', { policy: 'keep' }, '.policy: expected auto, drain or abort'],
  ['providers.two words', SAMPLE.providers.provider1, 'expected as name a word of letters, digits, _ and -'],

  ['models.1.targets', [], 'expected a list of at least one target'],
  ['models.1.targets', [{ provider: 'provider9', model: 'x' }], '[0].provider: there is no provider provider9'],
  ['models.1.targets', [{ provider: 'constructor', model: 'x' }], '[0].provider: there is no provider constructor'],
  ['models.1.maxOutputTokens', 200_001, 'must not exceed contextLength'],
  ['models.1.contextLength', '200000', 'expected a positive whole number of tokens'],
  [
    'models.1.capabilities',
    ['tools', 'magic'],
    '[1]: expected one of tools, images, files, audio, reasoning, json-schema',
  ],
  [
    'models.1.capabilities',
    ['tools', 'tools'],
    'expected a list without repetition, of tools, images, files, audio, reasoning, json-schema',
  ],
  ['models.1.fallback', ['svc/none'], '[0]: there is no model svc/none'],
  ['models.1.fallback', ['auto-smart'], '[0]: there is no model auto-smart'],
  ['models.1.fallback', ['svc/beta'], '[0]: a model cannot be its own fallback'],
  ['models.1.pricing.inputPer1mTokens', undefined, 'is missing; expected a price in USD per 1,000,000 tokens'],
  ['models.1.pricing.inputPer1mTokens', -1, 'expected a price in USD per 1,000,000 tokens'],
  ['models.1.pricing.inputPer1mTokens', 1e7, 'expected a price in USD per 1,000,000 tokens'],
  ['models.1.pricing.inputPer1mTokens', '1', 'expected a price in USD per 1,000,000 tokens'],
  ['models.1.pricing.outputPer1mTokens', 0.0000001, 'is finer than 0.000001 USD per 1,000,000 tokens'],
  [
    'models.1.pricing.steps',
    list(
      { aboveInputTokens: 9, inputPer1mTokens: 1, outputPer1mTokens: 1 },
      { aboveInputTokens: 9, inputPer1mTokens: 1, outputPer1mTokens: 1 },
    ),
    "[1].aboveInputTokens: must be above the previous step's 9",
  ],
  ['models.1.tokenizerSafetyFactor', 0.9, 'expected a factor from 1 to 10'],
  ['models.2', MODEL && { ...(MODEL as object), id: 'svc/beta' }, '.id: the model svc/beta is listed twice'],

  ['tiers.0.id', 'smart', 'expected auto- and a word of letters, digits, . _ and -'],
  ['tiers.0.strategy', 'clever', 'expected one of smart, fast, cheap'],
  ['tiers.0.candidates', ['svc/none'], '[0]: there is no model svc/none'],
  ['tiers.0.candidates', [], 'expected a list of at least one model id, without repetition'],
  ['tiers.0.weights', { price: 'high' }, '.price: expected a number'],
  ['tiers.0.observe', 1.1, 'expected a share from 0 to 1'],
  ['tiers.1', SAMPLE.tiers[0], '.id: the tier auto-smart is listed twice'],
]

describe('each mistake is one error', () => {
  test.each(CASES)('a catalogue with %s = %j has one error', (place, value, fault) => {
    const at = place.replaceAll(/\.(\d+)/g, '[$1]')
    expect(faultsOf(spoil(place, value))).toEqual([/^[.[]/.test(fault) ? at + fault : `${at}: ${fault}`])
  })
})

describe('a model id', () => {
  test.each(['beta', 'svc/', 'svc/be ta', 'svc/beta:latest', 'svc/a/b', 'SVC/beta'])(
    'the model id %p is refused',
    (id) => {
      expect(faultsOf(spoil('models.1.id', id))).toEqual([
        'models[1].id: expected svc/ and a word of letters, digits, . _ and -',
        'models[0].fallback[0]: there is no model svc/beta',
        'tiers[0].candidates[0]: there is no model svc/beta',
      ])
    },
  )
})

describe('errors of a catalogue', () => {
  test('errors in all parts of the file are reported together', () => {
    const file = JSON.parse(spoil('providers.provider2.baseUrl', 'nowhere'))
    file.providers.provider1.frmat = 'x'
    file.models[0].pricing.outputPer1mTokens = -1
    file.models[1].fallback = ['svc/none', 'svc/alpha']
    file.tiers[0].strategy = 'clever'
    expect(faultsOf(JSON.stringify(file)).map((fault) => fault.split(':')[0])).toEqual([
      'providers.provider1.frmat',
      'providers.provider2.baseUrl',
      'models[0].pricing.outputPer1mTokens',
      'models[1].fallback[0]',
      'tiers[0].strategy',
    ])
  })

  test('a faulty entry causes no further errors in entries that name it', () => {
    const file = JSON.parse(spoil('providers.provider2.format', 1))
    file.models[1].name = ''
    expect(faultsOf(JSON.stringify(file)).map((fault) => fault.split(':')[0])).toEqual([
      'providers.provider2.format',
      'models[1].name',
    ])
  })

  test('a syntax error is reported with line and column', () => {
    expect(faultsOf('{\n  "service": "svc",\n}')).toEqual([
      'line 3, column 1: expected a property name in double quotes',
    ])
    expect(faultsOf('[]')).toEqual(['the file: expected an object'])
  })

  test('a missing variable is an error only if an entry needs it', () => {
    expect(faultsOf(JSON.stringify(SAMPLE), { ...ALL_KEYS, PROVIDER3_BASE_URL: '' })).toEqual([
      'providers.provider3.baseUrl: the variable PROVIDER3_BASE_URL is not set and has no default',
    ])
    expect(faultsOf(JSON.stringify(SAMPLE), {})).toEqual([])
    expect(faultsOf(spoil('models.0.targets.0.model', variable('ALPHA_NAME')))).toEqual([
      'models[0].targets[0].model: the variable ALPHA_NAME is not set and has no default',
    ])
  })

  test('a malformed variable is an error', () => {
    expect(faultsOf(spoil('providers.provider1.keys', [variable('PROVIDER1-API-KEY')]))).toEqual([
      `providers.provider1.keys[0]: has an invalid variable; expected ${variable('NAME')}, ${variable('NAME|OTHER')} or ${variable('NAME:-default')}`,
    ])
  })

  test('error texts never contain a key', () => {
    const environment = { ...ALL_KEYS, PROVIDER2_API_KEY: 'canary\u0000secret' }
    const file = spoil('providers.provider1.keys', ['canary-secret', 'canary-secret'])
    expect(faultsOf(file, environment)).toHaveLength(2)
    expect(faultsOf(file, environment).join()).not.toContain('canary')
  })
})
