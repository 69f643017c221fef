/** Where responses providers are called, and with which credential. */
import type { Endpoint } from '@/formats/format'

export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/responses`,
  credential: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  sandboxPath: '/v1',
}
