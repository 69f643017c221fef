/** Batched queries: which keys travel together, their order, the limit on concurrent queries, and failures. */
import { describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { createBatch } from '@/lib/batch'

/** A source that answers a question when the test says so. */
function openSource(limits: { maxKeys?: number; maxQuestions?: number; maxWaiting?: number } = {}) {
  const questions: { keys: readonly string[]; answer(): void; fail(error: Error): void }[] = []
  const ask = createBatch<string>({
    ...{ maxKeys: 100, maxQuestions: 1, maxWaiting: 100, ...limits },
    answer(keys) {
      const reply = Promise.withResolvers<Map<string, string>>()
      const found = keys.filter((key) => !key.startsWith('no')).map((key) => [key, key.toUpperCase()] as const)
      questions.push({ keys, answer: () => reply.resolve(new Map(found)), fail: reply.reject })
      return reply.promise
    },
  })
  const question = async (index: number) => {
    await until(() => questions.length > index, `question ${index}`)
    return questions[index] as (typeof questions)[number]
  }
  return { ask, questions, question }
}

describe('a batch', () => {
  test('a batch turns the keys requested in one event loop turn into one query, each key once', async () => {
    const { ask, questions, question } = openSource()
    const answers = Promise.all([ask('a'), Promise.resolve().then(() => ask('b')), ask('none'), ask('a')])
    const first = await question(0)
    expect(first.keys).toEqual(['a', 'none', 'b'])
    first.answer()
    expect(await answers).toEqual(['A', 'B', undefined, 'A'])
    expect(questions).toHaveLength(1)
  })

  test('a call never gets the answer of an earlier query', async () => {
    const { ask, question } = openSource({ maxQuestions: 2 })
    const before = ask('a')
    const first = await question(0)
    const after = ask('a')
    const second = await question(1)
    expect(second.keys).toEqual(['a'])
    second.answer()
    expect(await after).toBe('A')
    first.answer()
    expect(await before).toBe('A')
  })

  test('while the maximum of queries runs, further keys are collected and queried in order', async () => {
    const { ask, questions, question } = openSource({ maxKeys: 2 })
    const answers = ['a', 'b', 'c', 'd', 'e'].map(ask)
    const first = await question(0)
    const later = ask('f')
    expect(questions.map(({ keys }) => keys)).toEqual([['a', 'b']])
    first.answer()
    const second = await question(1)
    second.answer()
    const third = await question(2)
    third.answer()
    expect(questions.map(({ keys }) => keys)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
    expect(await Promise.all([...answers, later])).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
  })

  test('a failed query fails all its callers, and the batch works afterwards', async () => {
    const { ask, question } = openSource()
    const failing = Promise.allSettled([ask('a'), ask('b')])
    const first = await question(0)
    first.fail(new Error('refused'))
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const next = ask('a')
    const second = await question(1)
    second.answer()
    expect(await next).toBe('A')
  })

  test('a call beyond the maximum of waiters is refused at once', async () => {
    const { ask, question } = openSource({ maxWaiting: 3 })
    const waiting = ['a', 'b', 'c'].map(ask)
    await expect(ask('d')).rejects.toThrow('3 keys are waiting already')
    const again = ask('b')
    const first = await question(0)
    first.answer()
    expect(await Promise.all([...waiting, again])).toEqual(['A', 'B', 'C', 'B'])
  })
})
