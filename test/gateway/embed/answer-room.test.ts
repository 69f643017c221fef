/** Memory for embedding vectors: which account gets it, and which request waits. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '@/chat/error'
import { createAnswerRoom, type Room } from '@/gateway/embed/answer-room'
import { SHARED } from '@/limits/shared-resources'

const asking = (count: number, dimensions?: number) => ({
  inputs: Array.from({ length: count }, () => ({ type: 'text' as const, text: 'x' })),
  ...(dimensions !== undefined && { dimensions }),
})
const MANY = asking(2_048)
const AT_ONCE = Math.floor(SHARED.vectors.perAccount / (2_048 * 1_536 * 8))
const kindOf = (error: unknown) => (error instanceof GatewayError ? error.kind : 'bug')

describe('memory for vectors', () => {
  test('an account gets memory for some long vector lists; its next list waits, other accounts do not', async () => {
    const room = createAnswerRoom()
    const mine = Array.from({ length: AT_ONCE }, () => room('acct_a', MANY))
    expect(mine.some((one) => one instanceof Promise)).toBe(false)
    const next = room('acct_a', MANY) as Promise<Room>
    expect(Bun.peek.status(next)).toBe('pending')
    expect(room('acct_b', MANY)).not.toBeInstanceOf(Promise)
    ;(mine[0] as Room)?.release()
    expect(await next).toBeDefined()
  })

  test('if no memory for vectors becomes free in time, the answer is a 503 with retry-after', async () => {
    const room = createAnswerRoom(1)
    for (let index = 0; index < AT_ONCE; index++) void room('acct_a', MANY)
    const refused = await Promise.resolve(room('acct_a', MANY)).catch((error: unknown) => error)
    expect([kindOf(refused), (refused as GatewayError).options.retryAfterSeconds]).toEqual(['overloaded', 2])
  })

  test('short vector lists need no share of the memory; the share of huge lists is limited', () => {
    const room = createAnswerRoom()
    expect(room('acct_a', asking(20))).toBeUndefined()
    expect(room('acct_a', asking(2_048, 100_000))).not.toBeInstanceOf(Promise)
    expect(room('acct_b', MANY)).not.toBeInstanceOf(Promise)
  })
})
