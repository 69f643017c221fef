/** The playground's route: a normal chat completion, with the account's playground key, which can be switched off. */
import { Elysia } from 'elysia'
import { allowedBy } from '@/accounts/policies/effective-limits'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import type { Format } from '@/formats/format'
import { answerChat, type ChatEndpoint } from '@/http/answer-chat'
import type { HttpDeps } from '@/http/deps'
import { ERRORS } from '@/http/openapi/errors'
import { chatCompletionsEndpoint } from '@/http/routes/chat-completions'
import { usageRecordEvent } from '@/http/usage-record-event'
import type { Payer } from '@/ledger/outcomes'
import type { KeyDeps } from '@/people/keys/keys'
import { ACCOUNT_PREFIX, type GuardDeps, guard } from './guard'

type PlaygroundDeps = GuardDeps & Pick<KeyDeps, 'apiKeys' | 'readMemberKeyPolicy'> & { chat: HttpDeps }

export function playgroundRoutes(deps: PlaygroundDeps) {
  const { chat } = deps
  const endpoint: ChatEndpoint = {
    ...chatCompletionsEndpoint(chat),
    route: `${ACCOUNT_PREFIX}/playground/chat`,
    epilogue: usageRecordEvent,
  }
  return (
    new Elysia({ name: 'playground-routes', prefix: `${ACCOUNT_PREFIX}/playground`, tags: ['Dashboard'] })
      // Must precede the guard's parser: the handler reads and measures the body itself.
      .onParse(() => LEFT_UNREAD)
      .use(guard(deps))
      .post(
        '/chat',
        ({ viewer, request }) =>
          answerChat(chat, request, { ...endpoint, payerOf: () => playgroundPayer(deps, viewer) }),
        {
          may: 'keys.use',
          detail: {
            summary: 'Chat in the playground',
            description:
              'Takes the body of POST /v1/chat/completions and answers like it, paid by the account. With `stream: true`, what ' +
              'follows `data: [DONE]` is one more event, `usage_record`, whose data holds request_id, model, cost_usd (decimal ' +
              'text), input_tokens, cached_tokens, output_tokens, reasoning_tokens, rule, first_token_ms and duration_ms.',
            ...playgroundBodies(endpoint.format),
          },
        },
      )
  )
}

/** The schemas of chat completions, for documentation only, since the handler reads the body itself. */
function playgroundBodies({ requestSchema, answerSchema, eventSchema }: Format) {
  const content = { 'application/json': { schema: answerSchema }, 'text/event-stream': { schema: eventSchema } }
  return {
    requestBody: { required: true, content: { 'application/json': { schema: requestSchema } } },
    responses: { 200: { description: 'The answer', content } },
    [ERRORS]: [402, 502, 504],
  } as object
}

const LEFT_UNREAD = {}

async function playgroundPayer({ apiKeys, chat, readMemberKeyPolicy }: PlaygroundDeps, viewer: Member): Promise<Payer> {
  const { accountId, userId, email } = viewer
  const keyId = await apiKeys.playgroundKey(accountId, { actor: { userId, email } })
  const key = await chat.ledger.readKey({ accountId, keyId })
  // The key belongs to the account. The acting member's budgets and policy apply in addition.
  if (key?.status === 'active') {
    const rules = await readMemberKeyPolicy({ accountId, userId })
    return { accountId, keyId, memberId: userId, bounds: rules && allowedBy(rules, 'member') }
  }
  // A 401 would mean that the session has ended.
  const message = 'The playground is switched off for this account. Activate its key under API keys.'
  throw new GatewayError('forbidden', message, { code: 'playground_deactivated' })
}
