/** The tokenizer's queue: paid requests before free ones, accounts in turn, and a limit per account. */
import { describe, expect, test } from 'bun:test'
import { type CountAsker, createCountQueue } from '@/catalog/count-queue'
import type { CountQuestion } from '@/catalog/tokenizer-worker'
import { SHARED } from '@/limits/shared-resources'

/** A queue whose questions are answered by hand, one after another. */
function startQueue() {
  const put: CountQuestion[] = []
  const queue = createCountQueue((question) => put.push(question))
  const order: string[] = []
  function ask(name: string, asker: CountAsker) {
    return queue.ask([name], asker).then((answer) => {
      order.push(answer ? name : `${name} unanswered`)
    })
  }
  function answerAll(): void {
    for (let index = 0; index < put.length; index++) {
      queue.answered({ id: put[index]?.id ?? 0, tokens: 1, text: 1, character: 0 })
    }
  }
  return { queue, put, order, ask, answerAll }
}

const paid = (accountId: string) => ({ accountId, isPaid: true })
const free = (accountId: string) => ({ accountId, isPaid: false })

describe('the queue of the tokenizer', () => {
  test('the tokenizer’s queue counts for paid requests before free ones', async () => {
    const { ask, order, answerAll } = startQueue()
    const asked = [ask('free 1', free('a')), ask('free 2', free('a')), ask('free 3', free('b')), ask('paid', paid('c'))]
    answerAll()
    await Promise.all(asked)
    expect(order).toEqual(['free 1', 'paid', 'free 2', 'free 3'])
  })

  test('the tokenizer’s queue serves accounts in turn', async () => {
    const { ask, order, answerAll } = startQueue()
    const asked = ['1', '2', '3', '4'].map((name) => ask(`a${name}`, paid('a')))
    asked.push(ask('b1', paid('b')), ask('c1', paid('c')))
    answerAll()
    await Promise.all(asked)
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
  })

  test.each([
    ['paid', paid, SHARED.paidCounts],
    ['free', free, SHARED.freeCounts],
  ])(
    'the tokenizer’s queue refuses counts above an account’s limit, and above the total: %s',
    async (_, asker, share) => {
      const { ask, order, put } = startQueue()
      const { perAccount, perProcess } = share
      // The one that is being counted waits no more.
      for (let index = 0; index < perAccount + 3; index++) void ask('mine', asker('a'))
      await Promise.resolve()
      expect(order).toHaveLength(2)
      const others = perProcess - perAccount
      for (let index = 0; index < others + 5; index++) void ask('others', asker(`b${index}`))
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      expect(order).toEqual([...Array(2).fill('mine unanswered'), ...Array(5).fill('others unanswered')])
      expect(put).toHaveLength(1)
    },
  )

  test('if the tokenizer gives up, waiting requests get no count, and later requests are counted again', async () => {
    const { queue, ask, order, answerAll } = startQueue()
    const asked = [ask('asked', paid('a')), ask('waiting', free('b'))]
    queue.giveUp()
    await Promise.all(asked)
    expect(queue.isIdle()).toBe(true)
    const again = ask('again', paid('a'))
    answerAll()
    await again
    expect(order).toEqual(['asked unanswered', 'waiting unanswered', 'again'])
  })
})
