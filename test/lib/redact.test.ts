/** Texts of others that callers may read: without secrets, known or recognized by their form, and without internal data. */
import { describe, expect, test } from 'bun:test'
import { redactForCallers } from '@/lib/redact'

describe('texts for callers', () => {
  test.each([
    ['a provider key', 'sk-proj-abcdefghijklmnop'],
    ['another provider key', 'AIzaSyA-1234567890abcdefgh_ijklmnop'],
    ['a key of ours', 'svc-0123456789abcdefghij'],
    ['a restricted key', 'rk_live_51H8abcdef'],
    ['an organisation', 'org-AbCdEfGh1234'],
    ['a project', 'proj_AbCdEfGh1234'],
    ['a request of the provider', 'req_011CSHoEeqs5C35K2UUqR7Fy'],
    ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
    ['an address', 'https://internal.example:8443/v1?x=1'],
    ['an address with a password', 'redis://user:hunter2@host:6379/0'],
  ])('a text for callers has no %s', (_, secret) => {
    expect(redactForCallers(`before ${secret} after`, [])).toBe('before [redacted] after')
  })

  test('a text for callers has no token after Bearer', () => {
    expect(redactForCallers('got Authorization: Bearer $%x!', [])).toBe('got Authorization: Bearer [redacted]')
  })

  test('a text for callers has no known secret of any length, even if secrets overlap', () => {
    expect(redactForCallers('key k3y and k3y-long', ['k3y', 'k3y-long'])).toBe('key [redacted] and [redacted]')
  })

  test('a text for callers keeps the parts that a caller can act on', () => {
    for (const text of [
      "Invalid 'messages[1].role'",
      'prompt is too long: 2 > 1',
      'tool_use ids; key and org',
      'Bearer',
    ]) {
      expect(redactForCallers(text, [])).toBe(text)
    }
  })
})
