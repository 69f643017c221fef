/** Content never vanishes: each kind that a format knows, in each place, is sent, or refused, or named as left out. */
import { describe, expect, test } from 'bun:test'
import { targetOfEntry } from '@test/dialects/provider-entry'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { Dialect } from '@/dialects/dialect'
import { lostFields } from '@/formats/field-fates'
import type { TargetTraits } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { untoldElsewhere } from '@/formats/protocol'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { bodyOf, CELLS, type Cell, cellName } from './place-samples'

const AWS = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }

/** Everything that a request may be sent to: each format as its vendor has it, and the dialects that say it in other words. */
const PROVIDERS: { name: string; format: FormatName; quirks: string[]; dialect?: Dialect }[] = [
  ...FORMAT_NAMES.map((format) => ({ name: format, format, quirks: [] })),
  { name: 'a newer Gemini', format: 'generate-content', quirks: ['thought-signatures', 'function-response-parts'] },
  { name: 'a service that takes strings', format: 'chat-completions', quirks: ['string-content', 'no-mid-system'] },
  { name: 'bedrock-invoke', format: 'messages', quirks: [], dialect: dialectOf('bedrock-invoke') },
  { name: 'bedrock-converse', format: 'messages', quirks: [], dialect: dialectOf('bedrock-converse') },
]

function dialectOf(dialect: string): Dialect {
  return targetOfEntry({ format: 'messages', dialect, baseUrl: 'http://127.0.0.1:1', auth: AWS }).provider.dialect
}

function formatNamed(name: FormatName) {
  const format = FORMATS.get(name)
  assert(format, 'the format is known')
  return format
}

/** The outcome of a request: what is sent of it and what is named as left out, or the words in which it is refused. */
function send(client: FormatName, provider: (typeof PROVIDERS)[number], body: JsonObject) {
  const [from, to] = [formatNamed(client), formatNamed(provider.format)]
  const quirks = new Set(provider.quirks)
  const traits: TargetTraits = { model: 'anthropic.claude', maxOutputTokens: 8192, quirks, accountId: 'acc_1' }
  try {
    const request = from.decodeRequest(body, { model: 'svc/alpha', stream: false })
    const encoded = from === to ? undefined : to.encodeRequest(request, traits)
    const written = encoded?.body ?? from.passThrough.request(body, request, traits)
    const lost = encoded
      ? [...lostFields(request, body, from, to, encoded.warnings), ...untoldElsewhere(request)]
      : (request.unlisted ?? [])
    const sealed = provider.dialect?.envelope?.(written, {}) ?? { body: written, leftOut: [] }
    return { sent: sealed.body, leftOut: [...lost, ...sealed.leftOut] }
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return { refused: error.message }
    throw error
  }
}

/** Whether `sent` holds the content of a cell: the word itself, or the bytes that are the word in base64. */
function holds(sent: JsonObject, { canary }: Cell): boolean {
  const text = JSON.stringify(sent)
  return text.includes(canary) || text.includes(Buffer.from(canary).toString('base64'))
}

/** Texts, pictures and documents arrive everywhere, from wherever a format lets its callers say them. */
function isTakenByAll(client: FormatName, { kind, place }: Cell): boolean {
  const isSystem = place === 'system' && client !== 'generate-content'
  return ['text', 'image', 'pdf', 'text file', 'picture it made'].includes(kind) && !isSystem
}

const PAIRS = FORMAT_NAMES.flatMap((client) => PROVIDERS.map((provider) => ({ client, provider, to: provider.name })))

describe.each(PAIRS)('from $client to $to', ({ client, provider }) => {
  const plain = send(client, provider, bodyOf(client, []))

  test('a conversation of texts is sent without any loss', () => {
    expect(plain.refused).toBeUndefined()
    expect(plain.leftOut).toEqual([])
  })

  test.each(CELLS[client].map((cell) => ({ cell, what: cellName(cell) })))('%# $what', ({ cell }) => {
    const { sent, leftOut, refused } = send(client, provider, bodyOf(client, [cell]))
    if (isTakenByAll(client, cell)) expect(refused).toBeUndefined()
    if (refused !== undefined) expect(refused).not.toContain(cell.canary)
    else if (leftOut.length === 0) expect(holds(sent, cell)).toBe(true)
  })

  test('nor in any conversation of them', () => {
    const carried = CELLS[client].filter((cell) => {
      const { sent, leftOut } = send(client, provider, bodyOf(client, [cell]))
      return sent !== undefined && leftOut.length === 0
    })
    fc.assert(
      fc.property(fc.shuffledSubarray(carried), (cells) => {
        const { sent, leftOut } = send(client, provider, bodyOf(client, cells))
        assert(sent, 'what is taken alone is taken together')
        expect(leftOut).toEqual([])
        expect(cells.filter((cell) => !holds(sent, cell)).map(cellName)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })
})
