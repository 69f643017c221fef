/** The endpoints that sort documents by relevance: Cohere's versions 1 and 2. Jina's API has the form of version 1. */
import { Elysia } from 'elysia'
import { rankingSize } from '@/catalog/ranking-size'
import { decodeRerank, RerankAnswer, RerankAnswerV2, RerankBody, RerankBodyV2 } from '@/formats/chat-completions/index'
import type { MediaRequest } from '@/formats/media-call'
import { formatNamed } from '@/http/answer-chat'
import { answerMedia } from '@/http/answer-media'
import type { JsonBody } from '@/http/body'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import { exampleOfKind } from '@/http/openapi/example-model'
import { operation } from '@/http/openapi/operation'
import { turnFor } from '@/lib/wait/own-turn'

const EXAMPLE = {
  query: 'What is the capital of the United States?',
  documents: ['Carson City is the capital of Nevada.', 'Washington, D.C. is the capital of the United States.'],
}

export function rerankRoutes(deps: HttpDeps) {
  const format = formatNamed(deps, 'chat-completions')
  const rank =
    (version: 1 | 2) =>
    ({ request }: { request: Request }) =>
      answerMedia(deps, request, {
        format,
        kind: 'rerank',
        route: `/v${version}/rerank`,
        decode: (body) => decode(body, version),
      })
  const [first, second] = [rank(1), rank(2)]
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  const common = {
    tag: 'Inference',
    formats: [format],
    errors: INFERENCE_ERRORS,
    examples: { texts: { summary: 'Two texts', value: { model: exampleOfKind('rerank'), top_n: 1, ...EXAMPLE } } },
  } as const
  return (
    new Elysia({ name: 'rerank-routes' })
      .post('/v1/rerank', first, {
        parse: 'none',
        detail: operation({
          ...common,
          summary: 'Sort documents by relevance',
          description:
            'In the shape of Cohere’s first version, and of Jina. Models whose `kind` is `rerank` take it. Each costs a price ' +
            'for a search unit (a query with up to 100 documents of up to 500 tokens), or for input tokens. There is no ' +
            'fallback to another model, whose scores could not be compared.',
          requestSchema: RerankBody,
          responseSchema: RerankAnswer,
        }),
      })
      .post('/v2/rerank', second, {
        parse: 'none',
        detail: operation({
          ...common,
          summary: 'Sort documents by relevance (Cohere’s version 2)',
          description: 'The same as `/v1/rerank` for texts, in the shape of Cohere’s second version.',
          requestSchema: RerankBodyV2,
          responseSchema: RerankAnswerV2,
        }),
      })
      // For clients whose path has `/v1` twice, or not at all.
      .post('/v1/v1/rerank', first, undocumented)
      .post('/rerank', first, undocumented)
  )
}

async function decode({ json, bytes }: JsonBody, version: 1 | 2): Promise<MediaRequest> {
  const measuring = turnFor(bytes)
  if (measuring) await measuring
  return decodeRerank(json, version, rankingSize)
}
