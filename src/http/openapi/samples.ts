import embeddings from '#guide/embeddings.md' with { type: 'text' }
import responses from '#guide/responses.md' with { type: 'text' }
import streaming from '#guide/streaming.md' with { type: 'text' }
import { exampleEmbeddingModel, exampleModel } from './example-model'

/** For each operation, its sample in the guide: the page, and a word that only the sample's code block has. */
const SAMPLES: Readonly<Record<string, { page: string; name: string; word: string; library: string }>> = {
  'post /v1/chat/completions': { page: streaming, name: 'streaming', word: 'chat.completions', library: 'openai' },
  'post /v1/messages': { page: streaming, name: 'streaming', word: 'messages.stream', library: '@anthropic-ai/sdk' },
  'post /v1beta/models/{model}:streamGenerateContent': {
    ...{ page: streaming, name: 'streaming', word: 'generateContentStream', library: '@google/genai' },
  },
  'post /v1/responses': { page: responses, name: 'responses', word: 'responses.create', library: 'openai' },
  'post /v1/embeddings': { page: embeddings, name: 'embeddings', word: 'client.embeddings', library: 'openai' },
}

const BLOCKS = /^```(\w+) run\n([\s\S]*?)^```$/gm
const GUIDE_ADDRESS = 'http://localhost:3000'

type Paths = Record<string, Record<string, { description?: string }>>

/** Adds samples from the guide to the operations that they call, with `publicUrl` as address if known. The guide's test runs each. */
export function addSamples(paths: Paths, publicUrl: string | undefined): void {
  for (const [operation, { page, name, word, library }] of Object.entries(SAMPLES)) {
    const [method = '', path = ''] = operation.split(' ')
    const target = paths[path]?.[method]
    const code = [...page.matchAll(BLOCKS)].find(
      ([, language, block]) => language === 'ts' && block?.includes(word),
    )?.[2]
    if (!target || !code) continue
    const sample = code
      .replaceAll(/svc\/[a-z-]*embed[a-z-]*/g, exampleEmbeddingModel())
      .replaceAll('svc/alpha', exampleModel())
      .replaceAll(GUIDE_ADDRESS, publicUrl ?? GUIDE_ADDRESS)
    target.description = [
      target.description ?? '',
      `With \`${library}\`, from the guide's page [${name}](/docs/guide/${name}):`,
      `\`\`\`ts\n${sample}\`\`\``,
    ].join('\n\n')
  }
}
