/** The packages that the product is to be built on are those it is built on: each pinned, and used where it serves. */
import { expect, test } from 'bun:test'
import { listFiles, readText } from './tree'

const GIVEN = ['elysia', '@elysiajs/swagger', '@sinclair/typebox', 'ioredis', 'drizzle-orm', 'postgres'] as const

const SOURCES = listFiles('src').map((path) => ({ path, text: readText(path) }))
const { dependencies, devDependencies, packageManager } = JSON.parse(readText('package.json'))

/** Specifiers of what runs: types alone would be gone once it does. */
const LOADED = SOURCES.flatMap(({ path, text }) => {
  const loader = /\.(tsx?)$/.exec(path)?.[1] as 'ts' | 'tsx' | undefined
  return loader === undefined ? [] : new Bun.Transpiler({ loader }).scanImports(text).map((found) => found.path)
})

test.each(GIVEN)('%s is depended on, and imported by src/', (name) => {
  expect(Object.keys(dependencies)).toContain(name)
  expect(LOADED.filter((specifier) => specifier === name || specifier.startsWith(`${name}/`))).not.toEqual([])
})

test('Bun runs it, and is what src/ serves and hashes with; its types are those the compiler knows', () => {
  expect(packageManager).toBe(`bun@${Bun.version}`)
  expect(SOURCES.filter(({ text }) => text.includes('Bun.serve(')).map(({ path }) => path)).toContain(
    'src/boot/serve.ts',
  )
  expect(devDependencies['bun-types']).toBe(Bun.version)
  expect(JSON.parse(readText('tsconfig.json')).compilerOptions.types).toEqual(['bun-types'])
})
