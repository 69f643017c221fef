/** The list of places that limit, cut or omit content is complete, and has no unneeded entry. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { PLACES } from './places'

const ROOT = join(import.meta.dir, '..', '..')
/** What an answer passes between its provider and its client, and where it is kept to be given again. */
const ON_THE_WAY = [
  'src/gateway/{attempt,relay,signatures}/*.ts',
  'src/gateway/charge/kept-text.ts',
  'src/formats/*/provider-side/decode-*.ts',
  'src/formats/*/client-side/encode-stream*.ts',
  'src/formats/*/{repair*,pass-through,framing,call-fragments,events}.ts',
  'src/formats/responses/client-side/tool-names.ts',
  'src/formats/custom-tools.ts',
  'src/http/idempotency/*.ts',
  'src/stored-responses/*.ts',
  'src/lib/streams/sse.ts',
  'src/upstream/{answer,client}.ts',
  'src/chat/{fold,unfold}.ts',
]
const CONSTANT = /^(?:export )?const ((?:MAX|MOST|LIMIT)_\w+|\w+_AT_ONCE|\w+_CHARS|CHARS_\w+) =/
const CALL = /(\w+)\.(slice|splice|subarray)\((?!1, -1\))/g
const OTHERS: readonly [RegExp, (match: RegExpMatchArray) => string][] = [
  [/(\w+)\.length = /, ([, name]) => `${name}.length =`],
  [/createBoundedMap(?:<[^>]*>)?\(/, () => 'createBoundedMap'],
  [/^(?:if|else) .*\bbreak$/, () => 'break'],
]

function placesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const code = line.trim()
    if (code.startsWith('import ') || code.startsWith('*') || code.startsWith('//')) return []
    const constant = CONSTANT.exec(code)?.[1]
    const calls = [...code.matchAll(CALL)].map(([, name, verb]) => `${name}.${verb}`)
    const others = OTHERS.flatMap(([pattern, nameOf]) => {
      const match = pattern.exec(code)
      return match ? [nameOf(match)] : []
    })
    return [...(constant ? [constant] : []), ...calls, ...others]
  })
}

test('every place that limits or omits content is listed with the reason why no content is lost', () => {
  const found: Record<string, string[]> = {}
  for (const path of ON_THE_WAY.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)])) {
    const places = [...new Set(placesIn(readFileSync(join(ROOT, path), 'utf8')))]
    if (places.length > 0) found[path] = places.toSorted()
  }
  const listed = Object.fromEntries(
    Object.entries(PLACES).map(([path, places]) => [path, Object.keys(places).toSorted()]),
  )
  expect(found).toEqual(listed)
})

test('the tests named in the list of such places exist', () => {
  const named = Object.values(PLACES).flatMap((places) =>
    Object.values(places).flatMap((why) => why.match(/test\/[\w./-]+\.ts/g) ?? []),
  )
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
