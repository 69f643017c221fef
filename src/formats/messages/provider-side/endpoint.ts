/** Where messages providers are called, in which version of the protocol. */
import type { Endpoint } from '@/formats/format'

/** The last version of the protocol that takes sampling parameters. */
const VERSION = '2023-06-01'

export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/v1/messages`,
  hasApiVersion: false,
  credential: { header: 'x-api-key', prefix: '' },
  headers: { 'anthropic-version': VERSION },
  sandboxPath: '',
}
