/** Models of sound, pictures and reranking are only sold at providers that have such calls. */
import { describe, expect, test } from 'bun:test'
import { loadCatalog } from '@/catalog/catalog'

const PROVIDERS = {
  openai: { format: 'chat-completions', baseUrl: 'https://one.test/v1' },
  azure: { format: 'chat-completions', dialect: 'azure-openai', apiVersion: '2024-10-21', baseUrl: 'https://two.test' },
  embedder: { format: 'chat-completions', dialect: 'bedrock-embed', baseUrl: 'https://three.test' },
  messages: { format: 'messages', baseUrl: 'https://four.test' },
  gemini: { format: 'generate-content', baseUrl: 'https://five.test' },
  responses: { format: 'responses', baseUrl: 'https://six.test' },
  silent: { format: 'chat-completions', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' },
}
const LINES = {
  speech: [{ billable: 'input_text', unit: 'character', usd: 15 }],
  image: [{ billable: 'output_image', unit: 'token', usd: 30 }],
  transcription: [{ billable: 'input_audio', unit: 'second', usd: 0.0001 }],
  rerank: [{ billable: 'request', unit: 'search_unit', usd: 0.002 }],
}

function faultsOf(kind: keyof typeof LINES, provider: string): string[] {
  const file = {
    service: 'svc',
    providers: Object.fromEntries(
      Object.entries(PROVIDERS).map(([name, entry]) => [name, { ...entry, keys: ['secret-of-the-provider'] }]),
    ),
    models: [
      {
        ...{ id: 'svc/sound', name: 'Sound', kind, created: 1_760_000_000, ownedBy: provider, contextLength: 4_096 },
        targets: [{ provider, model: 'sound' }],
        pricing: { lines: LINES[kind] },
      },
    ],
    tiers: [],
    limits: { requestsPerMinute: 60, tokensPerMinute: 10_000, concurrency: 5 },
  }
  const loaded = loadCatalog(JSON.stringify(file), {})
  return loaded.kind === 'faulty' ? loaded.faults.map(({ place, message }) => `${place}: ${message}`) : []
}

const WORDS = { speech: 'speech', transcription: 'transcriptions', rerank: 'rerank' }

describe.each(['speech', 'transcription', 'rerank'] as const)('a model of kind %s', (kind) => {
  test.each(['openai', 'azure'])('a model of this kind can be sold at %s', (provider) => {
    expect(faultsOf(kind, provider)).toEqual([])
  })

  test.each(['embedder', 'messages', 'gemini', 'responses'])(
    'a model of this kind cannot be sold at %s',
    (provider) => {
      const [fault] = faultsOf(kind, provider)
      expect(fault).toContain('models[0].targets[0].provider')
      expect(fault).toContain(`which has no ${WORDS[kind]}`)
    },
  )
})

describe('a model of kind image', () => {
  test.each(['openai', 'azure', 'gemini'])('a model of kind image can be sold at %s', (provider) => {
    expect(faultsOf('image', provider)).toEqual([])
  })

  test.each([
    ['embedder', 'which has no pictures'],
    ['messages', 'which has no pictures'],
    ['responses', 'which has no pictures'],
    ['silent', 'states no tokens of pictures'],
  ])('a model of kind image cannot be sold at %s', (provider, words) => {
    expect(faultsOf('image', provider)).toEqual([expect.stringContaining(words)])
  })
})
