/** Models and tiers in the generate-content list. */
import { expect, test } from 'bun:test'
import { generateContent } from '@/formats/generate-content/index'

const { encodeModel } = generateContent.modelListing

test('the model list of generate-content has models and tiers', () => {
  const alpha = encodeModel({ id: 'svc/alpha', name: 'Alpha', contextLength: 256_000, maxOutputTokens: 32_768 })
  expect(alpha).toEqual({
    name: 'models/svc/alpha',
    baseModelId: 'svc/alpha',
    version: '1',
    displayName: 'Alpha',
    inputTokenLimit: 256_000,
    outputTokenLimit: 32_768,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  })
  const tier = { id: 'auto-smart', name: 'Auto Smart', contextLength: 128_000 }
  expect(encodeModel(tier)).toMatchObject({ name: 'models/auto-smart', inputTokenLimit: 128_000 })
  expect(encodeModel(tier)).not.toHaveProperty('outputTokenLimit')
})
