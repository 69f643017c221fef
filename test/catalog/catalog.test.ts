/** Loading the catalogue: which models are offered in which environment, default values, and look-ups of hostile names. */
import { afterAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogSecrets, DEFAULT_LIMITS, loadCatalog } from '@/catalog/catalog'
import { DEFAULT_TIMEOUTS } from '@/catalog/providers'
import type { Provider } from '@/catalog/types'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { ALL_KEYS, type Json, load, SAMPLE, spoil, variable } from './sample-catalog'

const TEXT = JSON.stringify(SAMPLE)

function provider(place: string, value: Json, name = 'provider1'): Provider {
  const found = load(spoil(`providers.${name}.${place}`, value)).providers.get(name)
  if (!found) throw new Error(`no ${name}`)
  return found
}

describe('offered models', () => {
  test('if every provider has a key, all models are offered', () => {
    const result = loadCatalog(TEXT, ALL_KEYS)
    expect(result).toMatchObject({ kind: 'loaded', isSandboxed: false, withoutKey: [], notOffered: [] })
    const catalog = load(TEXT)
    expect([...catalog.providers.keys()]).toEqual(['provider1', 'provider2', 'provider3'])
    expect([...catalog.models.keys()]).toEqual(['svc/alpha', 'svc/beta'])
    expect(catalog.tiers.get('auto-smart')?.candidates.map((model) => model.id)).toEqual(['svc/beta', 'svc/alpha'])
    expect(catalog.limits).toEqual(SAMPLE.limits)
    expect(catalog.providers.get('provider3')?.baseUrl).toBe('https://three.example')
  })

  test('a provider without a key is omitted, with its targets and each model that has no other target', () => {
    const result = loadCatalog(TEXT, { PROVIDER2_API_KEY: '' })
    if (result.kind !== 'loaded') throw new Error(result.kind)
    const { catalog } = result
    expect([...catalog.providers.keys()]).toEqual(['provider1'])
    expect(catalog.models.get('svc/alpha')?.targets.map((target) => target.model)).toEqual(['alpha-2026-01'])
    expect(catalog.models.get('svc/alpha')?.fallback).toEqual([])
    expect(catalog.models.has('svc/beta')).toBe(false)
    expect(catalog.tiers.get('auto-smart')?.candidates.map((model) => model.id)).toEqual(['svc/alpha'])
    expect(result.withoutKey).toEqual(['provider2', 'provider3'])
    expect(result.notOffered).toEqual(['svc/beta'])
  })

  test('a tier without a candidate is omitted', () => {
    const text = spoil('tiers.0.candidates', ['svc/beta'])
    expect(loadCatalog(text, {})).toMatchObject({ kind: 'loaded', notOffered: ['svc/beta', 'auto-smart'] })
    expect(load(text, {}).tiers.size).toBe(0)
  })

  test('if no provider has a key, no model is offered and the error names the variables', () => {
    const text = spoil('providers.provider1.keys', [variable('PROVIDER1_API_KEY')])
    expect(loadCatalog(text, {})).toEqual({
      kind: 'no_keys',
      variables: ['PROVIDER1_API_KEY', 'PROVIDER2_API_KEY', 'PROVIDER3_API_KEY'],
    })
  })

  test('if no provider has a key, the sandbox answers for all providers', () => {
    const text = spoil('providers.provider1.keys', [variable('PROVIDER1_API_KEY')])
    const result = loadCatalog(text, {}, { sandboxBaseUrl: 'http://127.0.0.1:4010/' })
    if (result.kind !== 'loaded') throw new Error(result.kind)
    expect(result.isSandboxed).toBe(true)
    const providers = [...result.catalog.providers.values()]
    expect(providers.map((item) => item.baseUrl)).toEqual([
      'http://127.0.0.1:4010/v1',
      'http://127.0.0.1:4010',
      'http://127.0.0.1:4010',
    ])
    expect(providers.every((item) => item.keys.length === 1)).toBe(true)
    expect(result.notOffered).toEqual([])
  })

  test('if one provider has a key, the sandbox is never used', () => {
    const result = loadCatalog(TEXT, {}, { sandboxBaseUrl: 'http://127.0.0.1:4010' })
    expect(result).toMatchObject({ kind: 'loaded', isSandboxed: false, withoutKey: ['provider2', 'provider3'] })
  })
})

describe('default values of the catalogue', () => {
  test('the catalogue has default values for a provider', () => {
    const format = FORMATS.get('chat-completions')
    assert(format, 'there is one')
    expect(load(TEXT).providers.get('provider1')).toEqual({
      name: 'provider1',
      format: 'chat-completions',
      dialect: format.endpoint,
      baseUrl: 'https://one.example/v1',
      apiVersion: undefined,
      keys: [{ id: expect.stringMatching(/^[0-9a-f]{12}$/), secret: 'key-one', weight: 1 }],
      timeouts: DEFAULT_TIMEOUTS,
      isProxied: false,
      maxConcurrency: Number.POSITIVE_INFINITY,
      headers: {},
      onDisconnect: { kind: 'auto', maxMs: 30_000, maxConcurrent: 50 },
      quirks: new Set(),
      passFields: new Set(),
      betas: undefined,
      data: {},
    })
  })

  test('a model without cache prices charges cached tokens as input', () => {
    const beta = load(TEXT).models.get('svc/beta')
    expect(beta).toMatchObject({ capabilities: new Set(), tokenizerSafetyFactor: 2 })
    expect(beta?.pricing).toEqual({
      base: { input: 1e6, cacheRead: 1e6, cacheWrite5m: 1.25e6, cacheWrite1h: 2e6, output: 5e6 },
      steps: [],
    } as never)
  })

  test('the default price of the one-hour cache is never below the five-minute one', () => {
    const text = spoil('models.1.pricing.cacheWritePer1mTokens', 3)
    expect(load(text).models.get('svc/beta')?.pricing.base).toMatchObject({ cacheWrite5m: 3e6, cacheWrite1h: 3e6 })
  })

  test('the catalogue has default values for tiers and limits', () => {
    expect(load(spoil('limits', undefined)).limits).toEqual(DEFAULT_LIMITS)
    expect(load(spoil('tiers', undefined)).tiers.size).toBe(0)
    expect(load(TEXT).tiers.get('auto-smart')).toMatchObject({
      created: 1_760_000_000,
      weights: new Map(),
      observe: 0.05,
    })
  })

  test('default timeouts are lowered to a shorter total', () => {
    expect(provider('timeouts', { totalMs: 3000 }).timeouts).toEqual({
      connectMs: 3000,
      firstByteMs: 3000,
      idleMs: 3000,
      totalMs: 3000,
    })
    expect(provider('timeouts', { idleMs: 2_000_000 }).timeouts).toMatchObject({
      idleMs: 2_000_000,
      totalMs: 2_000_000,
    })
  })
})

describe('optional settings of the catalogue', () => {
  test('the catalogue reads a provider’s options', () => {
    expect(provider('onDisconnect', { policy: 'drain', maxSeconds: 1.5, maxConcurrent: 3 }).onDisconnect).toEqual({
      kind: 'drain',
      maxMs: 1500,
      maxConcurrent: 3,
    })
    for (const policy of ['auto', 'drain', 'abort'] as const)
      expect(provider('onDisconnect', { policy }).onDisconnect).toMatchObject({ kind: policy })
    expect(provider('maxConcurrency', 7).maxConcurrency).toBe(7)
    expect(provider('headers', { 'x-team': 'gateway' }).headers).toEqual({ 'x-team': 'gateway' })
    const keys = provider('keys', ['first', variable('UNSET_KEY'), { key: 'second', weight: 3 }]).keys
    expect(keys.map(({ secret, weight }) => [secret, weight])).toEqual([
      ['first', 1],
      ['second', 3],
    ])
  })

  test('a target’s options include its provider’s quirks', () => {
    const text = spoil('providers.provider1.quirks', ['max_tokens'])
    const withBoth = JSON.parse(text)
    withBoth.models[0].targets[0].quirks = ['no-sampling']
    const [first, second] = load(JSON.stringify(withBoth)).models.get('svc/alpha')?.targets ?? []
    expect(first?.quirks).toEqual(new Set(['max_tokens', 'no-sampling']))
    expect(second?.quirks).toEqual(new Set())
  })

  test('a price list has steps by the length of the input', () => {
    const steps = [{ aboveInputTokens: 200_000, inputPer1mTokens: 5, outputPer1mTokens: 20 }]
    expect(load(spoil('models.0.pricing.steps', steps)).models.get('svc/alpha')?.pricing.steps).toMatchObject([
      { aboveInputTokens: 200_000, prices: { input: 5e6, output: 20e6, cacheRead: 5e6 } },
    ])
  })

  test('a tier keeps the weights of the file', () => {
    expect(load(spoil('tiers.0.weights', { quality: 2, price: 0.5 })).tiers.get('auto-smart')?.weights).toEqual(
      new Map([
        ['quality', 2],
        ['price', 0.5],
      ]),
    )
  })
})

describe('variables of the catalogue', () => {
  test('variables in the catalogue are replaced inside any string, and may have a default', () => {
    const text = spoil('providers.provider1.baseUrl', `https://${variable('REGION:-eu')}.${variable('DOMAIN')}/v1`)
    const address = (environment: object) =>
      load(text, { ...ALL_KEYS, ...environment }).providers.get('provider1')?.baseUrl
    expect(address({ DOMAIN: 'example' })).toBe('https://eu.example/v1')
    expect(address({ DOMAIN: 'example', REGION: 'us' })).toBe('https://us.example/v1')
    expect(address({ DOMAIN: 'example', REGION: '' })).toBe('https://eu.example/v1')
  })

  describe('variables from files', () => {
    const path = join(tmpdir(), `variable-${crypto.randomUUID()}`)
    const keysWith = (environment: object, text = TEXT) => {
      const { PROVIDER2_API_KEY: _, ...others } = ALL_KEYS
      return loadCatalog(text, { ...others, ...environment })
    }
    const faultsWith = (environment: object) => {
      const result = keysWith(environment)
      return result.kind === 'faulty' ? result.faults : []
    }
    afterAll(() => rm(path, { force: true }))

    test('catalogue variables from files are read without the final line feed, and again at each load', async () => {
      const secretOf = () => {
        const result = keysWith({ PROVIDER2_API_KEY_FILE: path })
        return result.kind === 'loaded' ? result.catalog.providers.get('provider2')?.keys[0]?.secret : result
      }
      await Bun.write(path, 'from-a-file\r\n\n')
      expect(secretOf()).toBe('from-a-file')
      await Bun.write(path, 'another')
      expect(secretOf()).toBe('another')
      await Bun.write(path, '\n')
      expect(secretOf()).toBeUndefined()
    })

    test('an unreadable, missing or large variable file, or one whose variable is also set, is an error', async () => {
      const place = 'providers.provider2.keys[0]'
      const message = expect.stringContaining('PROVIDER2_API_KEY_FILE')
      expect(faultsWith({ PROVIDER2_API_KEY_FILE: '/nowhere/at/all' })).toEqual([{ place, message }])
      expect(faultsWith({ PROVIDER2_API_KEY_FILE: tmpdir() })).toEqual([{ place, message }])
      await Bun.write(path, 'x'.repeat(65_537))
      expect(faultsWith({ PROVIDER2_API_KEY_FILE: path })).toEqual([{ place, message }])
      await Bun.write(path, 'sound')
      expect(faultsWith({ PROVIDER2_API_KEY_FILE: path, PROVIDER2_API_KEY: 'too' })).toEqual([{ place, message }])
      await Bun.write(path, 'two\nlines')
      expect(faultsWith({ PROVIDER2_API_KEY_FILE: path })).toEqual([
        { place, message: 'has characters that are not allowed in a header' },
      ])
    })
  })

  test('inherited object properties are no variables, and values are not replaced twice', () => {
    expect(
      load(spoil('models.0.name', variable('ODD')), { ...ALL_KEYS, ODD: variable('PROVIDER2_API_KEY') }).models.get(
        'svc/alpha',
      )?.name,
    ).toBe(variable('PROVIDER2_API_KEY'))
    expect(loadCatalog(spoil('models.0.name', variable('constructor')), ALL_KEYS).kind).toBe('faulty')
  })
})

test('toString and similar names are unknown models, tiers and providers', () => {
  const catalog = load(TEXT)
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '']) {
    expect(catalog.models.get(name)).toBeUndefined()
    expect(catalog.tiers.get(name)).toBeUndefined()
    expect(catalog.providers.get(name)).toBeUndefined()
  }
})

test('the secrets of a catalogue are its provider keys and fixed headers', () => {
  const catalog = load(spoil('providers.provider1.headers', { 'x-team': 'header-secret' }))
  expect(catalogSecrets(catalog).sort()).toEqual(['header-secret', 'key-one', 'key-three', 'key-two'])
})

describe('the catalogue that comes with the gateway', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../config/catalog.json')).text()
  const keys = { PROVIDER1_API_KEY: 'one', PROVIDER2_API_KEY: 'two', PROVIDER3_API_KEY: 'three' }

  test('the default catalogue is valid, and offers all models of the provider whose key is set', () => {
    expect(load(text, keys).models.size).toBe(12)
    const embedders = { PROVIDER1_API_KEY: 2, PROVIDER2_API_KEY: 0, PROVIDER3_API_KEY: 1 }
    for (const [name, key] of Object.entries(keys)) {
      const catalog = load(text, { [name]: key })
      const kinds = [...catalog.models.values()].map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'chat')).toHaveLength(3)
      expect(kinds.filter((kind) => kind === 'embedding')).toHaveLength(embedders[name as keyof typeof embedders])
      expect([...catalog.tiers.keys()]).toContain('auto-smart')
    }
  })

  test('the default catalogue has the specified tiers and context lengths', () => {
    const catalog = load(text, keys)
    expect([...catalog.tiers.keys()]).toEqual(['auto-smart', 'auto-fast', 'auto-cheap'])
    expect(catalog.tiers.get('auto-smart')?.contextLength).toBe(128_000)
    expect(catalog.models.get('svc/alpha')?.contextLength).toBe(922_000)
  })

  test('the default catalogue reads base addresses from the environment', () => {
    const catalog = load(text, { ...keys, PROVIDER1_BASE_URL: 'http://127.0.0.1:1/v1/' })
    expect(catalog.providers.get('provider1')?.baseUrl).toBe('http://127.0.0.1:1/v1')
    expect(catalog.providers.get('provider2')?.baseUrl).toMatch(/^https:/)
  })
})

describe('the default catalogue and the vendors’ names of their keys', () => {
  const read = () => Bun.file(join(import.meta.dir, '../../config/catalog.json')).text()
  const keysOf = async (environment: Record<string, string>) => {
    const text = await read()
    const { providers } = load(text, environment)
    return Object.fromEntries([...providers].map(([name, { keys }]) => [name, keys.map(({ secret }) => secret)]))
  }

  test('the default catalogue reads a vendor’s variable if the numbered one is unset', async () => {
    expect(await keysOf({ OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g' })).toEqual({
      ...{ provider1: ['o'], provider2: ['a'], provider3: ['g'] },
    })
    expect(await keysOf({ ANTHROPIC_API_KEY: 'a', PROVIDER2_API_KEY: '' })).toEqual({ provider2: ['a'] })
  })

  test('the default catalogue prefers the numbered variable and its file', async () => {
    expect(await keysOf({ OPENAI_API_KEY: 'o', PROVIDER1_API_KEY: 'one' })).toEqual({ provider1: ['one'] })
    const path = join(tmpdir(), `key-${crypto.randomUUID()}`)
    await Bun.write(path, 'filed\n')
    expect(await keysOf({ OPENAI_API_KEY: 'o', PROVIDER1_API_KEY_FILE: path })).toEqual({ provider1: ['filed'] })
    await Bun.file(path).delete()
    const broken = loadCatalog(await read(), {
      OPENAI_API_KEY: 'o',
      PROVIDER1_API_KEY_FILE: path,
    })
    expect(broken).toMatchObject({ kind: 'faulty', faults: [{ place: 'providers.provider1.keys[0]' }] })
  })
})
