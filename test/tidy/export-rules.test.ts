/** The rule of exports against small samples: every way to take a name counts, and a name that nobody takes is found. */
import { describe, expect, test } from 'bun:test'
import { checkExports, checkOrphans } from './export-rules'
import { readSource } from './source'

type Files = Readonly<Record<string, string>>

function complaints(files: Files, forTests: Readonly<Record<string, readonly string[]>> = {}): string[] {
  const sources = Object.entries(files).map(([path, code]) =>
    readSource(path, `/** A sample for the rules. */\n${code}`),
  )
  return checkExports(sources, forTests).map(({ path, detail }) => `${path} ${detail}`)
}

const GIVER = 'src/lib/giver.ts'

describe('a name is taken by', () => {
  test.each([
    ['an import', "import { one } from './giver'"],
    ['an import under another name', "import { one as other } from './giver'"],
    ['an import by alias', "import { one } from '@/lib/giver'"],
    ['an import of a type', "import type { one } from './giver'"],
    ['an import among values', "import { type one } from './giver'"],
    ['an export from', "export { one as other } from './giver'\nexport const two = other\n"],
    ['a namespace', "import * as giver from './giver'\ngiver.one()"],
    ['a namespace in a type', "import type * as giver from './giver'\nconst a: giver.one = 1"],
    ['a namespace that is passed on whole', "import * as giver from './giver'\nlist(giver)"],
    ['a dynamic import, taken apart', "const { one } = await import('./giver')"],
    ['a dynamic import, looked into', "const it = (await import('./giver')).one"],
    ['a dynamic import, looked into later', "const it = import('./giver').then((module) => module.one)"],
    ['a dynamic import, taken apart later', "const it = import('./giver').then(({ one }) => one)"],
    ['a dynamic import that is passed on whole', "list(await import('./giver'))"],
    ['an imported type', "type It = import('./giver').one"],
    ['an imported type with members', "type It = import('./giver').one.two"],
    ['the type of a module', "type It = typeof import('./giver')"],
  ])('%s', (_, taker) => {
    const found = complaints({ [GIVER]: 'export function one() {}\n', 'src/lib/taker.ts': taker })
    expect(found.filter((line) => line.startsWith(GIVER))).toEqual([])
  })

  test.each([
    ['a namespace that looks at another name', "import * as giver from './giver'\ngiver.two()"],
    ['a dynamic import of another name', "const { two } = await import('./giver')"],
    ['a dynamic import that looks at another name', "const it = (await import('./giver')).two"],
    ['a dynamic import that looks at another name later', "import('./giver').then((module) => module.two)"],
    ['an imported type of another name', "type It = import('./giver').two"],
    ['an import for its effect', "import './giver'"],
    ['an import from elsewhere', "import { one } from './other'"],
  ])('not by %s', (_, taker) => {
    const found = complaints({ [GIVER]: 'export function one() {}\n', 'src/lib/taker.ts': taker })
    expect(found).toEqual([`${GIVER} one: nobody uses it`])
  })
})

describe('what is exported in vain', () => {
  test.each([
    ['a function', 'export function one() {}'],
    ['a constant', 'export const one = 1'],
    ['a constant taken apart', 'export const { one } = list'],
    ['a class', 'export class one extends Error {}'],
    ['a type', 'export type one = 1'],
    ['an interface', 'export interface one {}'],
    ['a name listed', 'const one = 1\nexport { one }'],
    ['a name listed under another', 'const two = 1\nexport { two as one }'],
    ['a name handed on', "export { one } from 'elysia'"],
    ['a type handed on', "export type { one } from 'elysia'"],
  ])('%s', (_, code) => {
    expect(complaints({ [GIVER]: code })).toEqual([`${GIVER} one: nobody uses it`])
  })

  test.each([
    ['a function', 'export function one() {}\none()'],
    ['a type', 'export type one = 1\nconst a: one = 1'],
    ['a name listed', 'const one = 1\nexport { one }\nlist(one)'],
    ['a component', 'export function one() {}\nconst page = <one />'],
  ])('%s that only its own file uses', (_, code) => {
    const path = 'src/lib/giver.tsx'
    expect(complaints({ [path]: code })).toEqual([`${path} one: only its own file uses it: no export`])
  })

  test('a name behind a star that nobody looks through', () => {
    const star = { [GIVER]: 'export const one = 1', 'src/lib/star.ts': "export * from './giver'" }
    expect(complaints(star)).toEqual([`${GIVER} one: nobody uses it`])
    expect(complaints({ ...star, 'src/lib/taker.ts': "import { one } from './star'" })).toEqual([])
  })

  test('a name of the other trees', () => {
    const path = 'test/support/giver.ts'
    expect(complaints({ [path]: 'export const one = 1' })).toEqual([`${path} one: nobody uses it`])
    const takers = { 'faults/a.ts': "import { one } from '@test/support/giver'" }
    expect(complaints({ [path]: 'export const one = 1', ...takers })).toEqual([])
  })
})

describe('what only tests take from src/', () => {
  const taker = { 'test/lib/giver.test.ts': "import { one, ONE_MS, type One } from '@/lib/giver'" }

  test('is not exported for them', () => {
    const found = complaints({ [GIVER]: 'export function one() {}\none()', ...taker })
    expect(found).toEqual([`${GIVER} one: only tests use it`])
  })

  test('may be a type or a constant that the product uses itself', () => {
    const code = 'export const ONE_MS = 1\nexport type One = 1\nconst a: One = ONE_MS'
    expect(complaints({ [GIVER]: code, ...taker })).toEqual([])
    expect(complaints({ [GIVER]: 'export const ONE_MS = 1\nexport type One = 1', ...taker })).toHaveLength(2)
  })

  test('stands in a list, which has no line too many', () => {
    const files = { [GIVER]: 'export function one() {}\none()', ...taker }
    expect(complaints(files, { [GIVER]: ['one'] })).toEqual([])
    const inVain = `${GIVER} one: stands in the list of exports for tests without being one`
    expect(complaints({ ...files, 'src/lib/taker.ts': "import { one } from './giver'" }, { [GIVER]: ['one'] })).toEqual(
      [inVain],
    )
    expect(complaints({ [GIVER]: 'function one() {}\none()', ...taker }, { [GIVER]: ['one'] })).toEqual([inVain])
    expect(complaints({ [GIVER]: 'export function one() {}\none()' }, { [GIVER]: ['one'] })).toHaveLength(1)
  })
})

describe('a file that nobody imports', () => {
  const orphans = (files: Files, ...settings: string[]) => {
    const sources = Object.entries(files).map(([path, code]) => readSource(path, code))
    return checkOrphans(sources, settings).map(({ path }) => path)
  }

  test('is found', () => {
    expect(orphans({ 'src/lib/a.ts': '', 'src/lib/b.ts': "import './a'" })).toEqual(['src/lib/b.ts'])
    expect(orphans({ 'src/lib/a.ts': "const name = 'a.ts'" })).toEqual(['src/lib/a.ts'])
  })

  test('may be a test, a declaration, or a program that somebody starts', () => {
    expect(orphans({ 'test/lib/a.test.ts': '', 'src/lib/a.d.ts': '' })).toEqual([])
    expect(orphans({ 'src/cli/main.ts': '' }, '"admin": "bun src/cli/main.ts"')).toEqual([])
    expect(orphans({ 'test/a.test.ts': "join(FOLDER, 'started.ts')", 'test/started.ts': '' })).toEqual([])
  })
})
