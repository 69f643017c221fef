/** Sampling parameters, encoded for generate-content providers. */
import { expect, test } from 'bun:test'
import { chatRequest, encode, refusalOf, traits } from '@test/formats/generate-content/support'
import { generateContent } from '@/formats/generate-content/index'

test('sampling values are limited to the format’s range', () => {
  const { body, warnings } = generateContent.encodeRequest(
    chatRequest({
      sampling: {
        temperature: 3,
        topP: 0.5,
        topK: 40,
        frequencyPenalty: 2,
        presencePenalty: -2,
        seed: 2 ** 40,
        stop: ['1', '', '2', '3', '4', '5'],
        logprobs: true,
        topLogprobs: 3,
      },
      maxOutputTokens: 100_000,
      choices: 2,
    }),
    traits(),
  )
  expect(body.generationConfig).toEqual({
    temperature: 2,
    topP: 0.5,
    topK: 40,
    frequencyPenalty: 1.99,
    presencePenalty: -2,
    responseLogprobs: true,
    logprobs: 3,
    stopSequences: ['1', '2', '3', '4', '5'],
    candidateCount: 2,
    maxOutputTokens: 8192,
  })
  expect(warnings.map((warning) => warning.feature)).toEqual(['seed'])
  expect(refusalOf(() => encode({ choices: 9 })).message).toContain('at most 8')
})

test('more stop sequences than the format allows are refused, unless the caller accepts the loss', () => {
  const sampling = { stop: ['1', '2', '3', '4', '5', '6'] }
  expect(refusalOf(() => encode({ sampling })).message).toContain('at most 5 stop sequences')
  const preferences = { order: [], only: [], ignore: [], lossy: true as const }
  const { body, warnings } = generateContent.encodeRequest(chatRequest({ sampling, preferences }), traits())
  expect(body.generationConfig).toEqual({ stopSequences: ['1', '2', '3', '4', '5'] })
  expect(warnings.map(({ feature }) => feature)).toEqual(['stop'])
})
