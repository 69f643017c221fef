/** The structure rules on small samples: each rule can fail, and accepts good code. */
import { describe, expect, test } from 'bun:test'
import { checkImportsBeside, MAY_IMPORT_BESIDE } from './beside-rules'
import { checkImports, MAY_IMPORT } from './import-rules'
import { checkLua, checkMigrations } from './script-rules'
import { readSource, type Violation } from './source'
import { checkStyle } from './style-rules'

const HEADER = '/** A sample for the rules. */\n'

function imports(path: string, ...specifiers: string[]): string[] {
  const text = specifiers.map((specifier) => `import '${specifier}'\n`).join('')
  return details(checkImports(readSource(path, HEADER + text)))
}

function style(code: string, path = 'src/lib/sample.ts'): string[] {
  return details(checkStyle(readSource(path, HEADER + code)))
}

function details(violations: Violation[]): string[] {
  return violations.map((violation) => violation.detail)
}

describe('the import table', () => {
  test('a folder may import itself, packages, and the rows to its right in the table', () => {
    expect(imports('src/gateway/relay.ts', '@/ledger/ledger', '@/lib/sse', './meter', 'elysia', 'node:fs')).toEqual([])
    expect(imports('src/main.ts', '@/boot/compose', '@/config/config', './app')).toEqual([])
    expect(imports('src/formats/messages/decode.ts', '@/formats/format', '@/chat/request', './wire')).toEqual([])
    expect(imports('src/formats/index.ts', './messages/index')).toEqual([])
  })

  test.each([
    ['src/lib/sse.ts', '@/chat/event'],
    ['src/chat/fold.ts', '@/formats/format'],
    ['src/ledger/ledger.ts', '@/catalog/types'],
    ['src/catalog/price.ts', '@/ledger/outcomes'],
    ['src/accounts/keys.ts', '@/usage/reports'],
    ['src/usage/flusher.ts', '@/gateway/settle'],
    ['src/gateway/relay.ts', '@/http/errors'],
    ['src/gateway/hold/hold.ts', '@/gateway/charge/meter'],
    ['src/gateway/hold/hold.ts', '@/upstream/client'],
    ['src/gateway/relay/relay.ts', '@/gateway/handle-chat'],
    ['src/http/answer-chat.ts', '@/gateway/relay/relay'],
    ['src/boot/embedded/redis.ts', '@/db/client'],
    ['src/http/auth.ts', '@/app'],
    ['src/http/auth.ts', '@/config/config'],
    ['src/http/auth.ts', '@/console/auth/auth'],
    ['src/gateway/answer.ts', '@/console/orders/orders'],
    ['src/console/auth/auth.ts', '@/console/orders/orders'],
    ['src/metrics/metrics.ts', '@/gateway/charge/charge'],
    ['src/db/schema.ts', '@/usage/totals'],
    ['src/ledger/outcomes.ts', '@/db/schema'],
    ['src/dashboard/page.tsx', '@/console/http/routes'],
    ['src/unheard-of/file.ts', '@/lib/sse'],
  ])('the import table forbids %s to import %s', (path, specifier) => {
    expect(imports(path, specifier)).toHaveLength(1)
  })

  test('the import table forbids one format to import another', () => {
    expect(imports('src/formats/messages/decode.ts', '@/formats/chat-completions/wire')).toHaveLength(1)
  })

  test.each([
    ['client-side/decode-request.ts', 'provider-side/encode-request'],
    ['provider-side/decode-stream.ts', 'client-side/encode-stream'],
    ['usage.ts', 'client-side/encode-stream'],
  ])('the import table forbids %s of a format to import its %s', (path, target) => {
    expect(imports(`src/formats/messages/${path}`, `@/formats/messages/${target}`)).toHaveLength(1)
  })

  test.each([
    ['src/http/routes/route.ts', '@/formats/messages/limits'],
    ['src/console/http/playground-routes.ts', '@/formats/messages/client-side/wire'],
    ['src/formats/index.ts', '@/formats/messages/usage'],
  ])('the import table forbids %s to import %s: other folders import only a format’s index', (path, specifier) => {
    expect(imports(path, specifier)).toHaveLength(1)
  })

  test('other folders may import the index of a format, and files shared by all formats', () => {
    expect(imports('src/http/routes/route.ts', '@/formats/messages/index', '@/formats/format')).toEqual([])
  })

  test('both sides of a format may import its shared files, and its index may import both sides', () => {
    expect(
      imports('src/formats/messages/provider-side/decode-stream.ts', '@/formats/messages/usage', './blocks'),
    ).toEqual([])
    const sides = ['@/formats/messages/client-side/encode-error', '@/formats/messages/provider-side/decode-error']
    expect(imports('src/formats/messages/index.ts', ...sides)).toEqual([])
  })

  test('the import table sees exports from other files, dynamic imports and imported types', () => {
    const code = `export * from '@/db/a'\nexport { b } from '@/db/b'\nconst c = await import('@/db/c')\ntype D = import('@/db/d').D\n`
    expect(checkImports(readSource('src/lib/sample.ts', HEADER + code))).toHaveLength(4)
  })

  test('the import table knows the types that any folder may import', () => {
    const text = `${HEADER}import type { Outcome } from '@/ledger/outcomes'\n`
    expect(checkImports(readSource('src/db/schema.ts', text))).toEqual([])
    expect(checkImports(readSource('src/lib/sample.ts', text))).toHaveLength(1)
  })

  test('the import table requires one way to write an import', () => {
    expect(imports('src/lib/sse.ts', '../lib/money')).toHaveLength(1)
    expect(imports('src/lib/sse.ts', '@/lib/money')).toHaveLength(1)
    expect(imports('src/gateway/relay.ts', './../lib/money')).toHaveLength(1)
    expect(imports('src/lib/sse.ts', '@test/support/until')).toHaveLength(1)
    expect(imports('src/lib/sse.ts', '@faults/world/bank')).toHaveLength(1)
  })

  test('the import table has no row that allows two folders to import each other', () => {
    // Slices take the place of cli/, console/http/ and dashboard/ subject by subject, and both use each other's parts meanwhile.
    const folders = Object.entries(MAY_IMPORT).filter(([from]) => !from.startsWith('people'))
    const mutual = folders.flatMap(([from, targets]) =>
      targets
        .filter((to) => !to.startsWith('people'))
        .filter((to) => MAY_IMPORT[to]?.includes(from))
        .map((to) => `${from} ↔ ${to}`),
    )
    expect(mutual).toEqual([])
  })
})

describe('the import table beside src/', () => {
  const beside = (path: string, specifier: string) =>
    details(checkImportsBeside(readSource(path, `${HEADER}import '${specifier}'\n`)))

  test.each([
    ['test/lib/sse.test.ts', '@/lib/sse'],
    ['test/lib/sse.test.ts', './sse-reference'],
    ['test/lib/sse.test.ts', '@test/support/until'],
    ['test/faults/quick.test.ts', '@faults/cases/index'],
    ['faults/run.ts', './check/bill'],
    ['faults/cases/f01.ts', '@faults/fault'],
    ['faults/world/bank.ts', '@test/support/stores'],
    ['bench/books.ts', './books/print'],
    ['bench/books.ts', 'elysia'],
  ])('%s may import %s', (path, specifier) => {
    expect(beside(path, specifier)).toEqual([])
  })

  test.each([
    ['test/lib/sse.test.ts', '@faults/world/bank'],
    ['test/lib/sse.test.ts', '@test/lib/sse-reference'],
    ['test/lib/sse.test.ts', '../support/until'],
    ['faults/world/bank.ts', '@faults/cases/index'],
    ['faults/world/bank.ts', '@faults/fault'],
    ['faults/check/bill.ts', '@faults/cases/index'],
    ['faults/cases/f01.ts', '@faults/run'],
    ['faults/fault.ts', './run'],
    ['bench/books/print.ts', '@faults/world/bank'],
  ])('the import table forbids %s to import %s', (path, specifier) => {
    expect(beside(path, specifier)).toHaveLength(1)
  })

  test('the table beside src/ never lets two folders import each other', () => {
    const mutual = Object.entries(MAY_IMPORT_BESIDE).filter(([from, targets]) =>
      targets.some((to) => MAY_IMPORT_BESIDE[to]?.includes(from)),
    )
    expect(mutual).toEqual([])
  })
})

describe('rules of style', () => {
  test('the style rules accept good code', () => {
    const code = `/** Adds. */\nexport function add(left: number, right: number): number {\n  return left + right\n}\nclass BadError extends Error {}\n`
    expect(style(code)).toEqual([])
  })

  test('the style rules allow a schema with its type’s name, and a factory with its function’s', () => {
    const schemas = 'const Usd = Type.String()\nexport const OrderId = Type.Optional(Usd)\n'
    const others =
      'const usd = (description: string) => Type.String({ description })\nconst PAGE = { size: Type.Integer() }\n'
    expect(style(schemas + others)).toEqual([])
  })

  test('the style rules allow Promise.race in the shared helper of lib/', () => {
    const code = 'const first = Promise.race([work, timer])\n'
    expect(style(code, 'src/lib/deadline.ts')).toEqual([])
    expect(style(code, 'src/gateway/relay/relay.ts')).toHaveLength(1)
  })

  test.each([
    ['reading the environment', 'const port = process.env.PORT\n'],
    ['reading the environment by another name', 'const port = Bun.env.PORT\n'],
    ['reading the environment of the module', 'const port = import.meta.env.PORT\n'],
    ['unfinished work', '// TODO later\n'],
    ['a silenced type error', '// @ts-expect-error wrong\n'],
    ['a silenced lint', '// biome-ignore lint: no\n'],
    ['a schema named like a variable', 'const usd = Type.String()\n'],
    ['a schema named like a constant', 'export const ORDER_ID = Type.Optional(Type.String())\n'],
    ['a schema of the web framework named like a variable', 'const limit = t.Numeric({ minimum: 1 })\n'],
    ['an abbreviated variable', 'const req = 1\n'],
    ['an abbreviated parameter', 'const double = (num: number) => num * 2\n'],
    ['an undocumented export', 'const a = 1\nexport function add() {}\nexport const b = 2\n'],
    ['a long function', `function long() {\n${'  work()\n'.repeat(69)}}\n`],
    ['a function long by its closures', `function long() {\n${'  work(() => {\n  })\n'.repeat(90)}}\n`],
  ])('the style rules refuse %s', (_, code) => {
    expect(style(code)).toHaveLength(1)
  })

  test('the style rules allow only src/config/ to read the environment', () => {
    const code = 'export const port = process.env.PORT\n'
    expect(style(code, 'src/config/config.ts')).toEqual([])
    expect(style(code, 'src/boot/embedded/redis.ts')).toHaveLength(1)
    expect(style('export const env = options.env\n', 'src/boot/embedded/redis.ts')).toEqual([])
  })

  test('the style rules require a doc comment at every exported function except a file’s main one', () => {
    // A statement between the header and the function: the header would be the function's comment otherwise.
    const first = 'const between = 1\nexport function First() {}\n'
    const second = 'export function Second() {}\n'
    const third = 'export function third() {}\n'
    expect(style(first)).toEqual([])
    expect(style(first, 'src/dashboard/part.tsx')).toEqual([])
    expect(style(first + third)).toHaveLength(2)
    expect(style(first + third, 'src/dashboard/part.tsx')).toHaveLength(1)
    expect(style(first + second, 'src/dashboard/part.tsx')).toHaveLength(2)
    const documented = `${first.replace('export', '/** What it is. */\nexport')}/** And this. */\n${second}`
    expect(style(documented, 'src/dashboard/part.tsx')).toEqual([])
  })

  test('the style rules count a closure’s lines without its inner functions', () => {
    const inner = `  function inner() {\n${'    work()\n'.repeat(60)}  }\n`
    expect(style(`function outer() {\n${inner}${inner}}\n`)).toEqual([])
    expect(style(`function outer() {\n${inner}${'  work()\n'.repeat(70)}}\n`)).toEqual([
      'outer has 72 lines; at most 70',
    ])
  })

  test('the style rules count each test of a describe block by itself', () => {
    const chapter = (head: string) => `${head} () => {\n${'  work()\n'.repeat(69)}})\n`
    for (const head of ["describe('money',", "describe.each(['a', 'b'])('%s',"]) {
      expect(style(chapter(head), 'test/lib/sample.test.ts')).toEqual([])
      expect(style(chapter(head), 'test/lib/sample.ts')).toHaveLength(1)
    }
    expect(style(chapter("test('money',"), 'test/lib/sample.test.ts')).toHaveLength(1)
  })

  test('a file that is no TypeScript is refused', () => {
    expect(() => readSource('src/lib/a.ts', 'const = 1')).toThrow('src/lib/a.ts')
  })
})

describe('Lua scripts', () => {
  const header = '-- Adds money to an account.\n-- KEYS[1] account\n-- ARGV[1] amount\n-- Returns the new balance.\n'
  const body = "return redis.call('HINCRBY', KEYS[1], 'available', ARGV[1])\n"

  test('a script with purpose, keys, arguments and result passes', () => {
    expect(checkLua('a.lua', header + body)).toEqual([])
    expect(checkLua('part.lua', '-- Checks an amount that came as text.\nlocal function check() end\n')).toEqual([])
  })

  test.each([
    ['a header', body, 4],
    ['the keys', header.replace('KEYS', 'keys') + body, 1],
    ['the arguments', header.replace('ARGV', 'arguments') + body, 1],
    ['the result', header.replace('Returns', 'Gives') + body, 1],
  ])('a script fails without %s', (_, text, count) => {
    expect(checkLua('a.lua', text)).toHaveLength(count)
  })
})

test('migrations are numbered from 1 without gaps', () => {
  expect(checkMigrations(['0002_more.sql', '0001_first.sql'])).toEqual([])
  expect(checkMigrations([])).toEqual([])
  expect(checkMigrations(['0001_first.sql', '0003_third.sql'])).toHaveLength(1)
  expect(checkMigrations(['0001_first.sql', '0001_again.sql'])).toHaveLength(1)
  expect(checkMigrations(['1_first.sql'])).toHaveLength(1)
})
