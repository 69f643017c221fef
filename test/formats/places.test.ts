/** Content never vanishes: each kind of content in each place is sent, refused, or named as omitted. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { bodyOf, CELLS, type Cell, cellName } from './place-samples'
import { PROVIDERS, send } from './places'

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

  test('a text conversation is sent without any loss', () => {
    expect(plain.refused).toBeUndefined()
    expect(plain.leftOut).toEqual([])
  })

  test.each(CELLS[client].map((cell) => ({ cell, what: cellName(cell) })))(
    '%#: content is sent, named as omitted, or refused: $what',
    ({ cell }) => {
      const { sent, leftOut, refused } = send(client, provider, bodyOf(client, [cell]))
      if (isTakenByAll(client, cell)) expect(refused).toBeUndefined()
      if (refused !== undefined) expect(refused).not.toContain(cell.canary)
      else if (leftOut.length === 0) expect(holds(sent, cell)).toBe(true)
    },
  )

  test('no conversation loses content without an entry in the omitted list', () => {
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
