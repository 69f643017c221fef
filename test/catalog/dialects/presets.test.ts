/** Presets: the provider that an entry with a preset becomes, and what the entry may override. */
import { expect, test } from 'bun:test'
import { faultsOf, type Json, load, spoil } from '@test/catalog/sample-catalog'
import { PRESETS } from '@/catalog/dialects/presets'

function providerOf(entry: Json, environment?: Record<string, string>) {
  const provider = load(spoil('providers.provider1', entry), environment).providers.get('provider1')
  if (!provider) throw new Error('not offered')
  return provider
}

test.each([...PRESETS])(
  'the preset %s makes a provider once its required values are set',
  (preset, { entry, needs }) => {
    const keyed = entry.auth?.type === 'none' || entry.auth?.type === 'google' ? {} : { keys: ['the-key'] }
    const place = entry.dialect?.startsWith('vertex') ? { project: 'the-project', location: 'global' } : {}
    const address = needs === undefined ? {} : { baseUrl: 'https://cloud.example/v1', ...place }
    expect(needs === undefined).toBe(entry.baseUrl !== undefined)
    const provider = providerOf({ preset, ...keyed, ...address })
    expect(provider.format).toBe(entry.format)
    expect(provider.baseUrl).toBe(entry.baseUrl ?? 'https://cloud.example/v1')
    expect([...provider.quirks]).toEqual(entry.quirks ?? [])
    expect(provider.keys).toHaveLength(1)
  },
)

test('an entry can override every property of its preset, each as a whole', () => {
  const own = { baseUrl: 'https://mirror.example/v1', quirks: ['no-sampling'], keys: ['the-key'] }
  const provider = providerOf({ preset: 'deepseek', ...own, format: 'messages', timeouts: { idleMs: 7 } })
  expect(provider).toMatchObject({ format: 'messages', baseUrl: 'https://mirror.example/v1', timeouts: { idleMs: 7 } })
  expect([...provider.quirks]).toEqual(['no-sampling'])
})

test('a local server is offered without a key, and is sent a key if its operator has set one', () => {
  expect(providerOf({ preset: 'vllm' }).dialect.credential).toBeUndefined()
  const keyed = providerOf({ preset: 'vllm', keys: ['the-key'] })
  expect(keyed.dialect.credential).toEqual({ header: 'authorization', prefix: 'Bearer ' })
  expect(keyed.keys.map(({ secret }) => secret)).toEqual(['the-key'])
})

test('an unknown preset is one error, with its place', () => {
  for (const preset of ['gork', 7, 'toString', '__proto__']) {
    const faults = faultsOf(spoil('providers.provider1', { preset, keys: ['the-key'] }))
    expect(faults).toEqual([expect.stringMatching(/^providers\.provider1\.preset: expected one of azure, .*, xai$/)])
  }
})

test('if a preset requires a value, the error names it', () => {
  const faults = faultsOf(spoil('providers.provider1', { preset: 'azure' }))
  expect(faults).toEqual([
    'providers.provider1.keys: is missing; expected a list of at least one key',
    'providers.provider1.baseUrl: is missing; expected an http:// or https:// address',
  ])
})
