/** Routes for API keys found in public: reporting a key, and deactivating it by a mailed link. Neither needs a session. */
import { Type } from '@sinclair/typebox'
import type { ApiKeys } from '@/accounts/api-keys'
import type { ManagementKeys } from '@/accounts/management/management-keys'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { reportLeakedKey, switchOffLeakedKey } from '@/console/auth/leaked-keys'
import { guarded } from '@/console/http/guard'
import { DONE_BODY, type SessionDeps, visitorOf } from '@/console/http/session/context'
import { Done, Token } from '@/console/http/session/schemas'
import { exactly } from '@/console/http/wire'

type LeakedKeyDeps = SessionDeps & { catalog: CatalogSource; apiKeys: ApiKeys; managementKeys: ManagementKeys }

const MAX_TEXT_CHARS = 200

export function leakedKeyRoutes(deps: LeakedKeyDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'leaked-key-routes', '/dashboard/api/leaked-keys')
    .post(
      '/report',
      async ({ request, body }) => {
        await reportLeakedKey(parts, visitorOf(deps, request), deps.catalog.current.service, body.key.trim())
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({
          key: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: 'The text of the found key' }),
        }),
        response: Done,
        detail: {
          summary: 'Report a key that was found in public',
          description:
            'Mails the people who look after the key. Answers alike whether or not there is such a key; its text is not kept. ' +
            '403 `mail_not_configured` where no mail can be sent.',
        },
      },
    )
    .post(
      '/switch-off',
      async ({ request, body }) => {
        await switchOffLeakedKey(parts, visitorOf(deps, request), body.token, {
          deactivate: deps.apiKeys.deactivate,
          revoke: deps.managementKeys.revoke,
        })
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({ token: Token }),
        response: Done,
        detail: {
          summary: 'Deactivate a key that was found in public',
          description: 'With the token of the mail, which works once, within seven days.',
        },
      },
    )
}
