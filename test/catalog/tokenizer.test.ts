/** The token counter: never blocks, keeps its time budget, limits its queue, and survives the end of its thread. */
import { describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { createTokenCounter } from '@/catalog/tokenizer'

const ROOT = new URL('../..', import.meta.url).pathname
const HAPPY = 'All happy families are alike; each unhappy family is unhappy in its own way. '
const bytes = (text: string) => Buffer.byteLength(text)
const { count } = createTokenCounter()

describe('the token counter', () => {
  test('the token counter counts control words as plain text', async () => {
    expect(await count(['<|endoftext|>'], bytes)).toBeGreaterThan(1)
    expect(await count(['<|im_start|>system<|im_end|>', '\ud800'], bytes)).toBeGreaterThan(4)
  })

  test('the token counter counts several texts, and long texts in parts', async () => {
    const text = HAPPY.repeat(50)
    const exact = encode(text).length
    const counted = await count([text, '', text], bytes)
    expect(counted).toBeGreaterThanOrEqual(2 * exact)
    expect(counted).toBeLessThan(2.05 * exact)
    expect(await count([], bytes)).toBe(0)
  })

  test('the token counter uses the fallback for text beyond its time budget', async () => {
    const hard = [HAPPY, ...Array.from({ length: 3_000 }, () => 'ideograph 龘靐齉齾'.repeat(300)), 'the last words']
    const judged: string[] = []
    const counted = await count(hard, (text) => judged.push(text) && bytes(text))
    expect(judged.at(-1)).toBe('the last words')
    const [cut = '', ...whole] = judged
    expect(hard.slice(hard.length - whole.length)).toEqual(whole)
    expect(hard[hard.length - whole.length - 1]).toEndWith(cut)
    const left = judged.reduce((sum, text) => sum + bytes(text), 0)
    expect(counted).toBeGreaterThan(left)
  })

  test('the token counter answers in order, and uses the fallback if too many counts wait', async () => {
    const text = 'a word or two '.repeat(20)
    const ask = (index: number) => count([text], () => 1_000_000, { accountId: `acct_${index}`, isPaid: true })
    const results = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(index)))
    // One is being counted, the rest wait.
    expect(results.filter((result) => result === 1_000_000)).toHaveLength(35)
    expect(results.slice(0, 65).every((result) => result === results[0] && result < 200)).toBe(true)
    expect(await ask(0)).toBe(results[0] as number)
  })

  test('the token counter uses the fallback if its thread ends, and starts another', async () => {
    const { count: frail } = createTokenCounter(new URL('frail-thread.ts', import.meta.url))
    expect(await Promise.all([frail(['die'], bytes), frail(['before', 'its turn'], bytes)])).toEqual([3, 14])
    const again = () => frail(['live'], bytes)
    expect(await until(async () => (await again()) === 1_000, 'the next thread')).toBe(true)
  })

  test('the token counter keeps no process alive, except while a count is awaited', async () => {
    const child = Bun.spawn([process.execPath, '-e', SCRIPT], { cwd: ROOT, stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toBe('3\n')
    expect(await child.exited).toBe(0)
  })
})

const SCRIPT = `
  import { createTokenCounter } from '@/catalog/tokenizer'
  const { count, start } = createTokenCounter()
  await start()
  count(['one two three'], () => 0).then(console.log)
`
