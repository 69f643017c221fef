/** Aliases in the catalogue: their form, one meaning each, and the model that they name. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { findSold } from '@/catalog/aliases'
import { changesBetween } from '@/catalog/changes'
import { ALL_KEYS, faultsOf, load, SAMPLE } from './sample-catalog'

type Entry = { id: string; aliases?: unknown }

/** The sample with aliases of its two models and its tier. */
function withAliases(alpha: unknown, beta: unknown = [], smart: unknown = []): string {
  const file = structuredClone(SAMPLE) as unknown as { models: Entry[]; tiers: Entry[] }
  for (const [entry, aliases] of [
    [file.models[0], alpha],
    [file.models[1], beta],
    [file.tiers[0], smart],
  ] as const)
    if (entry) entry.aliases = aliases
  return JSON.stringify(file)
}

const EXPECTED =
  'expected a name of 1 to 128 letters, digits, . _ - and / between words, not below models/, publishers/ or v1/'

test('an alias of a model or tier names the model or tier', () => {
  const catalog = load(withAliases(['gpt-5.6-terra', 'openai/gpt'], ['claude-sonnet-5-5'], ['router/auto']))
  for (const [name, id] of [
    ['gpt-5.6-terra', 'svc/alpha'],
    ['openai/gpt', 'svc/alpha'],
    ['claude-sonnet-5-5', 'svc/beta'],
    ['router/auto', 'auto-smart'],
    ['svc/alpha', 'svc/alpha'],
    ['auto-smart', 'auto-smart'],
  ] as const)
    expect(findSold(catalog, name)?.id).toBe(id)
  expect(findSold(catalog, 'GPT-5.6-terra')).toBeUndefined()
  expect(findSold(catalog, '__proto__')).toBeUndefined()
})

test('an alias is not offered if its model is not offered', () => {
  const { PROVIDER2_API_KEY: _, ...others } = ALL_KEYS
  const catalog = load(withAliases(['of-alpha'], ['of-beta'], ['of-smart']), others)
  expect([...catalog.aliases.keys()]).toEqual(['of-alpha', 'of-smart'])
})

describe('a name with two meanings', () => {
  test.each([
    ['of two models', withAliases(['x'], ['x']), 'models[1].aliases[0]: x is also models[0].aliases[0]'],
    ['twice in one', withAliases(['x', 'y', 'x']), 'models[0].aliases[2]: x is also models[0].aliases[0]'],
    ['of a model and a tier', withAliases([], ['x'], ['x']), 'tiers[0].aliases[0]: x is also models[1].aliases[0]'],
    ['the id of a later model', withAliases(['svc/beta']), 'models[0].aliases[0]: svc/beta is also models[1].id'],
    ['its own id', withAliases(['svc/alpha']), 'models[0].aliases[0]: svc/alpha is also models[0].id'],
    ['the id of a tier', withAliases([], ['auto-smart']), 'models[1].aliases[0]: auto-smart is also tiers[0].id'],
    ['the id of a model', withAliases([], [], ['svc/beta']), 'tiers[0].aliases[0]: svc/beta is also models[1].id'],
  ])('a name that two models use is an error with both places: %s', (_, text, fault) => {
    expect(faultsOf(text)).toEqual([`${fault}; expected a name of its own`])
  })

  test('a name that two models use is an error even if the other entry is faulty or not offered', () => {
    const file = JSON.parse(withAliases(['x'], ['x']))
    file.models[0].name = ''
    expect(faultsOf(JSON.stringify(file), {})).toEqual([
      'models[0].name: expected a text of 1 to 128 characters',
      'models[1].aliases[0]: x is also models[0].aliases[0]; expected a name of its own',
    ])
  })

  test('each clash of names is one error', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'svc/alpha', 'svc/beta', 'auto-smart'), { maxLength: 5 })
    fc.assert(
      fc.property(names, names, names, (alpha, beta, smart) => {
        const all = [...alpha, ...beta, ...smart, 'svc/alpha', 'svc/beta', 'auto-smart']
        expect(faultsOf(withAliases(alpha, beta, smart))).toHaveLength(all.length - new Set(all).size)
      }),
    )
  })
})

test.each(['', '-x', 'a b', 'a//b', 'a/', '/a', 'x'.repeat(129), 'models/x', 'publishers/x', 'v1/x', 'v1beta/x', 'ä'])(
  '%p is refused as an alias',
  (alias) => {
    expect(faultsOf(withAliases([alias]))).toEqual([`models[0].aliases[0]: ${EXPECTED}`])
  },
)

test.each(['a', 'x'.repeat(128), 'anthropic/claude-sonnet-5', 'gpt-5.6_x', 'models', 'v1'])(
  '%p is accepted as an alias',
  (alias) => {
    expect(faultsOf(withAliases([alias]))).toEqual([])
  },
)

test('aliases must be a list of strings', () => {
  expect(faultsOf(withAliases('x'))).toEqual(['models[0].aliases: expected a list of names'])
  expect(faultsOf(withAliases([1]))).toEqual([`models[0].aliases[0]: ${EXPECTED}`])
})

test('a changed alias is among the listed changes of a reload', () => {
  const before = load(withAliases([]))
  const after = load(withAliases(['x', 'y'], [], ['z']))
  expect(changesBetween(before, after)).toEqual([
    { what: 'model svc/alpha aliases', before: null, after: 'x, y' },
    { what: 'tier auto-smart aliases', before: null, after: 'z' },
  ])
})
