/** Stored error texts never contain quoted content or a provider's text. */
import { expect, test } from 'bun:test'
import { providerOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import { GatewayError, invalidRequest } from '@/chat/error'
import { toGatewayError } from '@/upstream/failure'
import { withoutContent } from '@/usage/failures/without-content'

const SECRET = 'the patient in room 12'

test('text in quotation marks is removed from a stored error', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const said = `${before.replaceAll('"', '')}${SECRET}${after.replaceAll('"', '')}`
      for (const message of [`The model '${said}' does not exist.`, `type ${JSON.stringify(said)} is not known`])
        expect(withoutContent(invalidRequest(message)).words).not.toContain(SECRET)
    }),
  )
})

test('text after an unclosed quotation mark is removed from a stored error too, in linear time', () => {
  // Whoever looked for the end of each would be at it for longer than any test.
  const message = `Unknown: '${SECRET} ${"' ".repeat(2_000_000)}`
  expect(withoutContent(invalidRequest(message)).words).toBe('Unknown: …')
})

test('texts from our code and their apostrophes are kept in a stored error', () => {
  const message = "This model's provider can't take more than 4 stop sequences"
  expect(withoutContent(invalidRequest(message, 'stop[4]'))).toEqual({
    ...{ words: message, param: 'stop[4]', providerRequestId: null },
  })
})

test.each(['request', 'unsupported', 'filtered', 'context-too-long', 'server', 'rate-limited'] as const)(
  'the text of a provider’s refusal %s is not stored',
  (reason) => {
    const failure = {
      kind: 'refused',
      error: { reason, status: 400, kind: 'x', message: `Invalid: ${SECRET}` },
    } as const
    const error = toGatewayError(failure as never, providerOf('p'), false)
    expect(withoutContent(error).words).not.toContain(SECRET)
    expect(withoutContent(error).words).not.toBe('')
  },
)

test("a failure's stored message is short, has no control characters, and its field is a path", () => {
  const error = new GatewayError('invalid_request', `a\u0000b${'x'.repeat(5_000)}\ud800`, {
    param: 'a.b[0]<script>\u0000',
  })
  const kept = withoutContent(error)
  expect(kept.param).toBe('a.b[0]_script__')
  expect(kept.words.length).toBeLessThanOrEqual(300)
  expect(kept.words).toMatch(/^a bx+$/)
})
