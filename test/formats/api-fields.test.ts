/** Every field of the four public interfaces has a rule, so that a new field needs a decision. */
import { describe, expect, test } from 'bun:test'
import type { FieldTable } from '@/formats/body-fields'
import { BODY_FIELDS as CHAT_COMPLETIONS } from '@/formats/chat-completions/body-fields'
import { CONFIG_FIELDS, BODY_FIELDS as GENERATE_CONTENT } from '@/formats/generate-content/body-fields'
import { BODY_FIELDS as MESSAGES } from '@/formats/messages/body-fields'
import { BODY_FIELDS as RESPONSES } from '@/formats/responses/body-fields'
import { LIST_FILE, readFields } from './api-typings'

/** What a library reads itself, or unpacks, and never sends. */
const CLIENT_SIDE = ['httpOptions', 'abortSignal', 'automaticFunctionCalling', 'config']

const TABLES: [format: string, tables: FieldTable[]][] = [
  ['chat-completions', [CHAT_COMPLETIONS]],
  ['messages', [MESSAGES]],
  ['generate-content', [GENERATE_CONTENT, CONFIG_FIELDS]],
  ['responses', [RESPONSES]],
]

test('the list of fields equals the declarations of the installed libraries', async () => {
  expect(await Bun.file(LIST_FILE).json()).toEqual(await readFields())
})

describe.each(TABLES)('fields of %s', (format, tables) => {
  test('every field of the format has a rule', async () => {
    const fields: string[] = (await Bun.file(LIST_FILE).json())[format]
    expect(fields.length).toBeGreaterThan(20)
    const undecided = fields.filter(
      (field) => !CLIENT_SIDE.includes(field) && !tables.some((table) => table.has(field)),
    )
    expect(undecided).toEqual([])
  })
})
