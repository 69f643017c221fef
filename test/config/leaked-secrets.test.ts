/** The page on leaked secrets says what to do for each secret of the environment. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')

/** Those that processes of one gateway tell each other. */
const INTERNAL = /^SUPERVISED_/

const settings = readdirSync(join(ROOT, 'src', 'config')).map((name) => read('src', 'config', name))
const names = settings.flatMap((text) =>
  [...text.matchAll(/([A-Z][A-Z_]+): optional\(\s*secret\(/g)].map(([, name]) => String(name)),
)

test('some settings contain secrets', () => {
  expect(names).toContain('AUTH_SECRET')
  expect(names.length).toBeGreaterThan(8)
})

test.each(names.filter((name) => !INTERNAL.test(name)))('the page on leaked secrets has a row for %s', (name) => {
  const rows = read('docs', 'operations', 'leaked-secrets.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  expect(rows.some((row) => row.split('|')[1]?.includes(`\`${name}\``))).toBe(true)
})
