/** Token counting requests of messages, and their answer. */
import { describe, expect, test } from 'bun:test'
import { complaint, wireBody } from '@test/formats/messages/support'
import { decodeCountTokens, encodeCountTokens } from '@/formats/messages/index'

describe('counting tokens', () => {
  test('counting tokens needs no max_tokens', () => {
    const request = decodeCountTokens({ model: 'm', messages: [{ role: 'user', content: 'x' }], tools: [] })
    expect(request.maxOutputTokens).toBeUndefined()
    expect(request.turns).toHaveLength(1)
    expect(decodeCountTokens(wireBody()).turns).toHaveLength(1)
  })

  test('counting tokens has the same limits as a message', () => {
    expect(complaint(() => decodeCountTokens({ model: 'm', messages: [] })).param).toBe('messages')
  })

  test('the answer to counting tokens has one field', () => {
    expect(encodeCountTokens(7)).toEqual({ input_tokens: 7 })
  })
})
