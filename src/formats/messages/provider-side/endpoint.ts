/** Where messages providers are called, in which version of the protocol. */
import type { Endpoint } from '@/formats/format'
import { DEFAULT_VERSION, VERSION_HEADER } from '@/formats/messages/version'

export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/v1/messages`,
  credential: { header: 'x-api-key', prefix: '' },
  headers: { [VERSION_HEADER]: DEFAULT_VERSION },
  sandboxPath: '',
}
