/** The rule about paths in documents, on small samples: missing paths of ours are found, other paths are ignored. */
import { describe, expect, test } from 'bun:test'
import { checkComments, checkDocument } from './path-rules'

const PROJECT = {
  files: [
    'README.md',
    'docs/BILLING.md',
    'src/app.ts',
    'src/http/auth.ts',
    'src/formats/messages/index.ts',
    'src/formats/messages/decode-request.ts',
    'src/ledger/scripts/credit.lua',
    'test/lib/money.test.ts',
  ],
  scripts: ['check', 'eval:router'],
}

const inDocument = (text: string) => checkDocument('docs/SAMPLE.md', text, PROJECT).map(({ detail }) => detail)
const inComments = (text: string) => checkComments('src/http/sample.ts', text, PROJECT)

describe('a document', () => {
  test.each([
    ['`src/http/auth.ts` finds a key'],
    ['`http/auth.ts` finds a key, and `auth.ts` does'],
    ['`http/` is the door, `src/http` too'],
    ['`messages/` and `docs/`'],
    ['import `http/auth`'],
    ['```\nbun test test/lib/money.test.ts\n```'],
    ['the file is test/lib/money.test.ts.'],
    ['`formats/<name>/{index,decode-request}.ts`, `src/ledger/scripts/*.lua`'],
    ['[billing](BILLING.md#rounding), [start](../README.md), [above](#above), [elsewhere](https://bun.com/docs/a.md)'],
    ['`bun run check`, bun run eval:router'],
    ['`/http/gone`, `text/event-stream`, `@scope/http/x`, `svc/alpha`, https://docs.example/src/gone.ts'],
    ['`chat/completions` is none of our folders'],
  ])('a document may contain: %s', (text) => {
    expect(inDocument(text)).toEqual([])
  })

  test.each([
    ['`src/http/gone.ts`', 'src/http/gone.ts: there is no such file or folder'],
    ['`http/gone.ts`', 'http/gone.ts: there is no such file or folder'],
    ['`gone.ts`', 'gone.ts: there is no such file or folder'],
    ['`gone/`', 'gone/: there is no such file or folder'],
    ['see gone.lua', 'gone.lua: there is no such file or folder'],
    ['`http/gone`', 'http/gone: there is no such file or folder'],
    ['`http/gone/`', 'http/gone/: there is no such file or folder'],
    ['bun test test/gone', 'test/gone: there is no such file or folder'],
    ['`formats/<name>/encode-request.ts`', 'formats/<name>/encode-request.ts: there is no such file or folder'],
    ['[gone](GONE.md)', 'GONE.md: the link leads nowhere'],
    ['[gone](BILLING)', 'BILLING: the link leads nowhere'],
    ['`bun run gone`', 'bun run gone: there is no such script'],
  ])('a document may not contain: %s', (text, detail) => {
    expect(inDocument(text)).toContain(detail)
  })

  test('an error in a document names its line, once for each path', () => {
    const found = checkDocument('docs/SAMPLE.md', 'one\ntwo `gone.ts` and gone.ts\n', PROJECT)
    expect(found.map(({ line }) => line)).toEqual([2])
  })
})

describe('paths in comments', () => {
  test('a comment may name a file in its own folder', () => {
    expect(inComments('/** See auth.ts, ../app.ts and `http/auth`. */\n// As http/auth.ts does.\n')).toEqual([])
  })

  test('comments of Lua scripts are checked too', () => {
    const found = checkComments(
      'src/ledger/scripts/a.lua',
      "-- As credit.lua does.\nlocal a = 'b.lua' -- c.lua\n",
      PROJECT,
    )
    expect(found.map(({ detail }) => detail)).toEqual(['c.lua: there is no such file or folder'])
  })

  test('only comments are checked, no other text', () => {
    expect(inComments("const file = 'gone.ts'\n/** One.\n * Two: gone.ts. */\n")).toMatchObject([{ line: 3 }])
    expect(inComments('work() // as gone.ts does\n')).toHaveLength(1)
    expect(inComments("fetch('https://example.test/gone.ts')\n")).toEqual([])
  })
})
