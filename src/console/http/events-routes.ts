/** The route of live events for open pages: balance changes, and new usage records. */
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import type { LiveAccounts, LiveEvent, Watch } from '@/console/usage-views/live-accounts'
import { endSilence } from '@/http/silence'
import type { Frame } from '@/lib/streams/sse'
import { eventStream } from './event-stream'
import { ACCOUNT_PREFIX, type GuardDeps, guarded } from './guard'
import { inUsd } from './wire'

export type EventsDeps = GuardDeps & {
  liveAccounts: LiveAccounts
  /** Milliseconds between two checks of the session. */
  sessionCheckMs?: number
}

const RETRY_SECONDS = 30

export function eventsRoutes(deps: EventsDeps) {
  return guarded(deps, 'events-routes', `${ACCOUNT_PREFIX}/events`).get(
    '/',
    ({ viewer, request }) => listen(deps, viewer, request),
    {
      may: 'billing.read',
      detail: {
        summary: 'Live events of the account',
        description:
          'Server-sent events. `balance` (balance, available, held, spentThisMonth in USD): at once, and whenever they change. ' +
          '`usage`: at once where there are charged requests, and whenever new ones are in the lists and charts; `pending` more are ' +
          'on their way. `signed-out`: the session has ended or allows no more of this account, and so does the stream. At most 20 ' +
          'connections per account and process.',
        responses: {
          200: { description: 'Events', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        },
      },
    },
  )
}

function listen(deps: EventsDeps, viewer: Member, request: Request): Response {
  const { liveAccounts, sessionCheckMs } = deps
  const waiting: Frame[] = []
  let send = (frame: Frame): void => void waiting.push(frame)
  const watch: Watch | undefined = liveAccounts.watch(viewer.accountId, (event) => send(toFrame(event)))
  if (!watch) {
    throw new GatewayError('rate_limited', 'Too many pages of this account are open.', {
      retryAfterSeconds: RETRY_SECONDS,
    })
  }
  return eventStream({
    signal: request.signal,
    isAllowed: () => mayStillListen(deps, viewer, request),
    ...(sessionCheckMs !== undefined && { checkMs: sessionCheckMs }),
    begin(sendNow) {
      for (const frame of waiting) sendNow(frame)
      send = sendNow
      return () => {
        watch.end()
        endSilence(request)
      }
    },
  })
}

/** Whether the session is valid, and the person is still a member with the permission. */
async function mayStillListen(deps: EventsDeps, viewer: Member, request: Request): Promise<boolean> {
  const now = await deps.identifyViewer(request)
  if (now?.sessionId !== viewer.sessionId) return false
  const membership = await deps.membershipIn(viewer.accountId, now.userId)
  return membership !== undefined && mayDo(membership.role, 'billing.read')
}

function toFrame(event: LiveEvent): Frame {
  if (event.type === 'usage') {
    return { event: 'usage', data: JSON.stringify({ seq: event.seq, pending: event.pending }) }
  }
  const { type, ...amounts } = event
  return { event: type, data: JSON.stringify(inUsd(amounts)) }
}
