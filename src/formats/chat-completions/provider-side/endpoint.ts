/** Where chat-completions providers are called, and with which credential. */
import type { Endpoint } from '@/formats/format'

export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/chat/completions`,
  embeddingsUrl: ({ baseUrl }) => `${baseUrl}/embeddings`,
  credential: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  sandboxPath: '/v1',
}
