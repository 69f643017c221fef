/** The sandbox's vectors: deterministic, close for texts with common words, and served in both formats. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { vectorText } from '@/formats/vectors'

type List<Vector> = { data: { embedding: Vector }[]; usage: object }

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.stop())

async function ask<Answer>(path: string, body: object): Promise<Answer> {
  const answer = await fetch(sandbox.baseUrl + path, { method: 'POST', body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Answer
}

async function vectorsOf(...input: string[]): Promise<number[][]> {
  const { data } = await ask<List<number[]>>('/v1/embeddings', { input })
  return data.map(({ embedding }) => embedding)
}

function closeness(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0)
}

test('a sandbox vector has length 1, is deterministic, and is closer for texts with common words', async () => {
  const [fox, near, far] = await vectorsOf('the quick brown fox', 'a brown fox', 'monthly statement of account')
  expect(fox).toHaveLength(256)
  expect(closeness(fox, fox)).toBeCloseTo(1, 5)
  expect(await vectorsOf('the quick brown fox')).toEqual([fox ?? []])
  expect(closeness(fox, near)).toBeGreaterThan(closeness(fox, far))
})

test('sandbox vectors are served as numbers and as base64', async () => {
  const input = ['one', 'two words']
  const plain = await ask<List<number[]>>('/v1/embeddings', { model: 'm', input, dimensions: 8 })
  expect(plain).toMatchObject({ object: 'list', model: 'm', usage: { prompt_tokens: 4, total_tokens: 4 } })
  const packed = await ask<List<string>>('/v1/embeddings', { input, dimensions: 8, encoding_format: 'base64' })
  expect(packed.data.map(({ embedding }) => JSON.parse(vectorText(embedding, 'float')))).toEqual(
    plain.data.map(({ embedding }) => embedding),
  )
  const requests = input.map((text) => ({ content: { parts: [{ text }] }, outputDimensionality: 8 }))
  const batch = await ask<{ embeddings: { values: number[] }[] }>('/v1beta/models/m:batchEmbedContents', { requests })
  expect(batch.embeddings.map(({ values }) => values.length)).toEqual([8, 8])
})
