/** Route names for logs and metrics: the most specific route that matches, and one name for all unknown paths. */
import { expect, test } from 'bun:test'
import { createRouteNames } from '@/http/route-name'

const nameOf = createRouteNames([
  '/v1/*',
  '/v1/messages',
  '/dashboard/api/a/:accountId/keys/:id',
  '/dashboard/*',
  '/healthz',
])

test.each([
  ['/v1/messages', '/v1/messages'],
  ['/v1/models/svc/alpha:generateContent', '/v1/*'],
  ['/dashboard/api/a/:accountId/keys/key_1', '/dashboard/api/a/:accountId/keys/:id'],
  ['/dashboard/api/a/:accountId/keys/key_1/more', '/dashboard/*'],
  ['/healthz', '/healthz'],
  ['/healthz/x', 'unknown'],
  ['/svc-secret', 'unknown'],
  ['/', 'unknown'],
])('the route of %s is named %s', (path, name) => {
  expect(nameOf(path)).toBe(name)
})
