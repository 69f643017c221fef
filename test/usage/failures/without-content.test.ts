/** What is kept of an error never holds what was quoted in it, or what a provider said. */
import { expect, test } from 'bun:test'
import { providerOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import { GatewayError, invalidRequest } from '@/chat/error'
import { toGatewayError } from '@/upstream/failure'
import { withoutContent } from '@/usage/failures/without-content'

const SECRET = 'the patient in room 12'

test('text in quotation marks is removed', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const said = `${before.replaceAll('"', '')}${SECRET}${after.replaceAll('"', '')}`
      for (const message of [`The model '${said}' does not exist.`, `type ${JSON.stringify(said)} is not known`])
        expect(withoutContent(invalidRequest(message)).words).not.toContain(SECRET)
    }),
  )
})

test('text after an unclosed quotation mark is removed too, in little time', () => {
  // Whoever looked for the end of each would be at it for longer than any test.
  const message = `Unknown: '${SECRET} ${"' ".repeat(2_000_000)}`
  expect(withoutContent(invalidRequest(message)).words).toBe('Unknown: …')
})

test('texts from our code and their apostrophes are kept', () => {
  const message = "This model's provider can't take more than 4 stop sequences"
  expect(withoutContent(invalidRequest(message, 'stop[4]'))).toEqual({
    ...{ words: message, param: 'stop[4]', providerRequestId: null },
  })
})

test.each(['request', 'unsupported', 'filtered', 'context-too-long', 'server', 'rate-limited'] as const)(
  'what a provider says of %s is its own affair',
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

test("a failure's kept message is short, has no control characters, and its field is a path", () => {
  const error = new GatewayError('invalid_request', `a\u0000b${'x'.repeat(5_000)}\ud800`, {
    param: 'a.b[0]<script>\u0000',
  })
  const kept = withoutContent(error)
  expect(kept.param).toBe('a.b[0]_script__')
  expect(kept.words.length).toBeLessThanOrEqual(300)
  expect(kept.words).toMatch(/^a bx+$/)
})
