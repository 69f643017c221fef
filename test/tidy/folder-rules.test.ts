/** The folder rules on small samples: a test without its subject, a folder with too many files, a similar name twice. */
import { describe, expect, test } from 'bun:test'
import { checkMirror, checkNames } from './folder-rules'

describe('test folders mirror src/', () => {
  const paths = [
    'src/lib/money.ts',
    'src/console/auth/auth.ts',
    'test/matrix/cases/words.ts',
    'test/console/auth/a.test.ts',
  ]

  test('each folder of tests has a folder in src/', () => {
    expect(checkMirror([...paths, 'test/lib/money.test.ts', 'test/console/a.test.ts'], ['matrix'])).toEqual([])
  })

  test.each([['test/money/money.test.ts'], ['test/lib/money/money.test.ts'], ['test/matrices/a.test.ts']])(
    'a test without a subject in src/ is found: %s',
    (path) => {
      expect(checkMirror([...paths, path], ['matrix'])).toHaveLength(1)
    },
  )

  test('each exception from the mirror is needed', () => {
    expect(checkMirror(paths, ['matrix', 'clients'])).toHaveLength(1)
    expect(checkMirror([...paths, 'src/matrix/a.ts'], ['matrix'])).toHaveLength(1)
  })
})

describe('similar names in one folder', () => {
  test.each([
    ['normalise.ts', 'normalize.ts'],
    ['check-request.ts', 'checkRequest.ts'],
    ['Money.ts', 'money.ts'],
    ['command.ts', 'commands.ts'],
    ['colour.ts', 'color.ts'],
    ['cancelled.ts', 'canceled.ts'],
    ['sample.test.ts', 'samples.test.ts'],
  ])('%s and %s count as the same name', (one, other) => {
    expect(checkNames([`src/lib/${one}`, `src/lib/${other}`])).toHaveLength(1)
    expect(checkNames([`src/lib/${one}`, `src/db/${other}`])).toEqual([])
  })

  test.each([
    ['money.ts', 'money.test.ts'],
    ['throttle.ts', 'throttle.lua'],
    ['decode-usage.ts', 'encode-usage.ts'],
    ['pass.ts', 'passes-on.ts'],
  ])('%s and %s count as different names', (one, other) => {
    expect(checkNames([`src/lib/${one}`, `src/lib/${other}`])).toEqual([])
  })
})
