/** Operations on API keys found in public: reporting a key, and deactivating it by a mailed link. Neither needs a session. */
import { Type } from '@sinclair/typebox'
import type { ApiKeys } from '@/accounts/api-keys'
import type { ManagementKeys } from '@/accounts/management/management-keys'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { reportLeakedKey, switchOffLeakedKey } from '@/console/auth/leaked-keys'
import { exactly } from '@/console/http/wire'
import { visitorsOver } from '@/people/operation'
import { Done, Token } from '@/people/sign-in/schemas'
import { DONE_BODY, type SessionDeps, visitorOf } from '@/people/sign-in/visitor'

type LeakedKeyDeps = SessionDeps & { catalog: CatalogSource; apiKeys: ApiKeys; managementKeys: ManagementKeys }

const MAX_TEXT_CHARS = 200

const operation = visitorsOver<LeakedKeyDeps>()

const report = operation('leaked_key.report', 'POST /leaked-keys/report', {
  summary: 'Report a key that was found in public',
  description:
    'Mails the people who look after the key. Answers alike whether or not there is such a key; its text is not kept. ' +
    '403 `mail_not_configured` where no mail can be sent.',
  takes: exactly({
    key: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: 'The text of the found key' }),
  }),
  gives: Done,
  async run({ deps, request }, { key }) {
    await reportLeakedKey(deps.auth.parts, visitorOf(deps, request), deps.catalog.current.service, key.trim())
    return DONE_BODY
  },
})

const switchOff = operation('leaked_key.switch_off', 'POST /leaked-keys/switch-off', {
  summary: 'Deactivate a key that was found in public',
  description: 'With the token of the mail, which works once, within seven days.',
  takes: exactly({ token: Token }),
  gives: Done,
  async run({ deps, request }, { token }) {
    const ends = { deactivate: deps.apiKeys.deactivate, revoke: deps.managementKeys.revoke }
    await switchOffLeakedKey(deps.auth.parts, visitorOf(deps, request), token, ends)
    return DONE_BODY
  },
})

export const LEAKED_KEY_OPERATIONS = [report, switchOff] as const
