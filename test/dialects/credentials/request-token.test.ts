/** The lifetime of a token, computed from an endpoint's response despite a wrong clock. */
import { expect, test } from 'bun:test'
import { startUpstream } from '@test/support/upstream'
import { requestToken } from '@/dialects/credentials/request-token'

const YEAR_MS = 365 * 86_400_000

test.each([0, YEAR_MS, -YEAR_MS])(
  'a token expires after the stated time, although the endpoint’s clock differs by %d ms',
  async (aheadMs) => {
    const atSeconds = Math.floor((Date.now() + aheadMs) / 1000)
    const headers = { date: new Date(atSeconds * 1000).toUTCString() }
    for (const said of [
      { expires_in: 600 },
      { expires_on: String(atSeconds + 600) },
      { expireTime: new Date((atSeconds + 600) * 1000).toISOString() },
    ]) {
      const endpoint = startUpstream(() => Response.json({ access_token: 'token', ...said }, { headers }))
      const before = Date.now()
      const { expiresAtMs } = await requestToken('it', endpoint.url, {}).finally(() => endpoint.stop())
      const after = Date.now()
      expect(expiresAtMs - 600_000).toBeGreaterThanOrEqual(before)
      expect(expiresAtMs - 600_000).toBeLessThanOrEqual(after)
    }
  },
)

test('a refused token request without an error code is reported without a code', async () => {
  const endpoint = startUpstream(() => Response.json({ access_token: 'token' }))
  const error = await requestToken('it', endpoint.url, {}).catch((thrown: unknown) => String(thrown))
  endpoint.stop()
  expect(error).toBe('CredentialError: it answered 200 without a token')
})
