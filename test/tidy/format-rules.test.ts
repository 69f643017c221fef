/** The format rule on small samples: each mention that a new format would have to change is found, labels are not. */
import { describe, expect, test } from 'bun:test'
import { checkFormats } from './format-rules'
import { readSource } from './source'

const HEADER = '/** A sample for the rules. */\n'

function complaints(code: string, path = 'src/upstream/sample.ts'): string[] {
  return checkFormats(readSource(path, HEADER + code)).map(({ detail }) => detail)
}

const KNOWING: [string, string][] = [
  ['a comparison', "const isIt = name === 'messages'\n"],
  ['a comparison the other way round', "const isNot = 'messages' !== name\n"],
  ['a comparison in other quotes', 'const isIt = name === `generate-content`\n'],
  ['a case', "switch (name) {\n  case 'chat-completions':\n    go()\n}\n"],
  ['a table by name', "const table = { 'generate-content': 1 }\n"],
  ['a look-up', "const format = FORMATS.get('messages')\n"],
  ['a list', "const some = ['messages']\n"],
  ['a constant to compare with', "const OTHER = 'generate-content'\n"],
  ['a name in a type', "type Own = { format: 'messages' }\n"],
  ['an import', "import { DONE } from '@/formats/chat-completions/provider-side/decode-stream'\n"],
  ['an import of a type', "import type { WireRequest } from '@/formats/messages/wire'\n"],
  ['an import of the folder', "import { messages } from '@/formats/messages'\n"],
]

describe('mentions of a format', () => {
  test.each(KNOWING)('a mention of a format is found: %s', (_, code) => {
    expect(complaints(code)).toHaveLength(1)
    expect(complaints(code, 'src/dashboard/sample.tsx')).toHaveLength(1)
    expect(complaints(code, 'src/http/routes/route.ts')).toHaveLength(1)
  })

  test.each(KNOWING)('a format may be mentioned here: %s in its folder, the list and the route files', (_, code) => {
    for (const path of ['src/formats/index.ts', 'src/formats/messages/index.ts', 'src/chat/format-name.ts']) {
      expect(complaints(code, path)).toEqual([])
    }
    expect(complaints(code, 'src/http/routes/messages.ts')).toEqual([])
  })
})

test('labels, request fields, and names that all formats share do not count as mentions', () => {
  const good = [
    "import { FORMATS } from '@/formats/index'",
    "import type { Format } from '@/formats/format'",
    "const record = { clientFormat: 'chat-completions' }",
    "const error = refuse({ param: 'messages' })",
    'const body = { messages: [] }',
    "const path = '/v1/messages'",
  ]
  expect(complaints(`${good.join('\n')}\n`)).toEqual([])
})
