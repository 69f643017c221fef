/** By what a generate-content request is known: a beta version or a verb in its path, its client's headers, its contents. */
import type { Recognition } from '@/formats/format'

const KEY_HEADER = 'x-goog-api-key'

export const recognition: Recognition = {
  headers: ['x-goog-api-client', KEY_HEADER],
  keyHeaders: ['x-provider3-api-key', KEY_HEADER],
  isOwnPath: (path) => /^\/v1(beta|alpha)/.test(path) || /(:|%3A)[A-Za-z]+\/?$/i.test(path),
  isOwnBody: (body) => 'contents' in body,
}
