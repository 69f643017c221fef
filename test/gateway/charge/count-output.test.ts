/** Counting an answer's output tokens: exactly, one answer after another, with a mark if parts could not be counted. */
import { expect, test } from 'bun:test'
import { countTextTokens } from '@/catalog/estimate'
import { countOutput } from '@/gateway/charge/count-output'

test("the output count is the tokenizer's, plus tokens whose text was not kept", async () => {
  const texts = ['{"id": 17}', '人工智能正在改变']
  const counted = await countTextTokens(texts)
  expect(counted).toBeGreaterThan(8)
  expect(await countOutput({ texts, unkeptTokens: 7 })).toBe((counted ?? 0) + 7)
})

test('a thousand concurrent answers are all counted', async () => {
  const said = { texts: ['one two three four'], unkeptTokens: 0 }
  const counts = await Promise.all(Array.from({ length: 1_000 }, () => countOutput(said)))
  expect(new Set(counts)).toEqual(new Set([4]))
})
