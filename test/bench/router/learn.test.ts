/** Training of the difficulty model: the same prompts give the same bytes, and hard prompts get higher scores. */
import { describe, expect, test } from 'bun:test'
import { calibrate } from '@bench/router/calibrate'
import type { Example } from '@bench/router/example'
import { encodeText, fit, logistic, sumOf } from '@bench/router/learn'
import { areaUnderCurve } from '@bench/router/measure'
import { formatWeights, toWeights } from '@bench/router/quantise'
import { swapMaterial } from '@bench/router/swap'
import { trainingSet } from '@bench/router/training-set'
import { loadWeights, WEIGHTS_FILE } from '@/routing/difficulty/weights'

const SUBJECTS = [
  'ferries',
  'markets',
  'proteins',
  'bridges',
  'kernels',
  'treaties',
  'orbits',
  'looms',
  'tariffs',
  'reefs',
]

/** Seven collections that agree on what is hard. */
const EXAMPLES: Example[] = Array.from({ length: 7 }, (_, source) =>
  SUBJECTS.flatMap((subject) => [
    { text: `Prove rigorously the theorem about ${subject} and derive its bound`, label: 1 },
    { text: `hello, list some ${subject} please`, label: 0 },
  ]).map((example) => ({ ...example, source: `source-${source}`, language: 'en', kind: 'chat' })),
).flat()

function bytesOf(): Uint8Array {
  const prompts = trainingSet([], EXAMPLES)
  return formatWeights(toWeights(fit(prompts), calibrate(prompts)))
}

describe('training', () => {
  test('training twice writes the same bytes', () => {
    expect(Buffer.compare(Buffer.from(bytesOf()), Buffer.from(bytesOf()))).toBe(0)
  })

  test('the trained model recognizes hard prompts, also of a subject that it was not trained on', () => {
    const fitted = fit(trainingSet([], EXAMPLES))
    const score = (text: string) => logistic(sumOf(fitted, encodeText(text)))
    expect(score('Prove rigorously the theorem about glaciers and derive its bound')).toBeGreaterThan(0.7)
    expect(score('hello, list some glaciers please')).toBeLessThan(0.3)
  })

  test('training omits words that occur in few collections of prompts', () => {
    const odd: Example = { text: 'xylograph xylograph', label: 1, source: 'odd', language: 'en', kind: 'chat' }
    const prompts = trainingSet([], [...EXAMPLES, odd])
    expect(prompts.at(-1)?.buckets).toHaveLength(0)
  })
})

test('writing the weights of the committed model file gives the same file', async () => {
  const bytes = await Bun.file(WEIGHTS_FILE).bytes()
  expect(Buffer.compare(Buffer.from(formatWeights(loadWeights())), Buffer.from(bytes))).toBe(0)
  expect(bytes.length).toBeLessThan(300_000)
})

describe('swapped material of prompts', () => {
  test('an easy instruction before the material of a hard prompt counts as easy', () => {
    const task: Example = {
      text: 'Translate it.\n\nHello',
      instruction: 'Translate it.',
      label: 0.1,
      source: 'a',
      language: 'en',
      kind: 'task',
    }
    const hard: Example = { text: 'Prove "it".', label: 1, source: 'b', language: 'en', kind: 'chat' }
    const swapped = swapMaterial([task, hard])
    expect(swapped.map(({ text }) => text)).toContain(`Translate it: "Prove 'it'."`)
    expect(swapped.every(({ label }) => label < 0.2)).toBe(true)
    expect(new Set(swapped.map(({ text }) => text)).size).toBe(5)
  })
})

test('the area under the curve is the share of correctly ordered pairs', () => {
  const judged = [0.1, 0.4, 0.4, 0.9].map((score, index) => ({ score, isHard: index === 1 || index === 3 }))
  expect(areaUnderCurve(judged)).toBe(0.875)
  expect(areaUnderCurve(judged.map(({ score, isHard }) => ({ score: -score, isHard })))).toBe(0.125)
})
