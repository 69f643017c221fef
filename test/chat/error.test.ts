/** Errors: what the caller gets, and what only the log gets. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, invalidRequest, STATUS_OF_KIND } from '@/chat/error'

const KINDS = Object.keys(STATUS_OF_KIND) as ErrorKind[]
/** Faults of ours or of a provider: a caller has nothing to change about the request. */
const NOT_THE_CALLERS: ReadonlySet<ErrorKind> = new Set(['internal', 'upstream_failed', 'overloaded', 'timeout'])

describe('an error', () => {
  test.each(KINDS)('an error of kind %s has a 4xx status exactly if the caller can correct it', (kind) => {
    const { status } = new GatewayError(kind, 'no')
    expect(status).toBe(STATUS_OF_KIND[kind])
    expect(status >= 500).toBe(NOT_THE_CALLERS.has(kind))
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
  })

  test('a gateway error names the faulty field', () => {
    expect(invalidRequest('n: at most 8.', 'n')).toMatchObject({ kind: 'invalid_request', options: { param: 'n' } })
    expect('param' in invalidRequest('The body is empty.').options).toBe(false)
  })
})
