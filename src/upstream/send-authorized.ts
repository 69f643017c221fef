import { type Authorizer, CredentialError, type OutgoingCall } from '@/dialects/credentials/authorizer'
import type { CallHandle } from './call-deadline'
import type { TimeoutPhase, UpstreamFailure } from './failure'

type Failed = { kind: 'failed'; failure: UpstreamFailure }
type Waiting = { signal: AbortSignal; handle?: CallHandle }

const CREDENTIALS_STATUSES: ReadonlySet<number> = new Set([401, 403])

/** Sends a call with a credential from `authorizer`. If that is refused, sends it again with a new one: a refused call is free. */
export async function sendAuthorized<Answer extends { kind: 'answer' }>(
  authorizer: Authorizer,
  call: OutgoingCall,
  waiting: Waiting,
  send: (headers: Record<string, string>) => Promise<Answer | Failed>,
): Promise<Answer | Failed> {
  const first = await sendOnce(authorizer, call, waiting, send)
  return first.isReplaced ? (await sendOnce(authorizer, call, waiting, send)).result : first.result
}

/** Sends the call once. `isReplaced`: the credential was refused and replaced, so the call can be sent again. */
async function sendOnce<Answer extends { kind: 'answer' }>(
  authorizer: Authorizer,
  call: OutgoingCall,
  waiting: Waiting,
  send: (headers: Record<string, string>) => Promise<Answer | Failed>,
): Promise<{ result: Answer | Failed; isReplaced: boolean }> {
  const authorized = await authorize(authorizer, call, waiting)
  if (authorized.kind === 'failed') return { result: authorized, isReplaced: false }
  const result = await send(authorized.headers)
  return { result, isReplaced: isReplaced(authorizer, authorized.headers, result) }
}

function isReplaced(
  authorizer: Authorizer,
  headers: Record<string, string>,
  result: { kind: 'answer' } | Failed,
): boolean {
  if (result.kind === 'answer' || result.failure.kind !== 'refused') return false
  const { error, serverTimeMs } = result.failure
  if (!CREDENTIALS_STATUSES.has(error.status)) return false
  return authorizer.refused(headers, {
    status: error.status,
    kind: error.kind,
    ...(serverTimeMs !== undefined && { serverTimeMs }),
  })
}

async function authorize(
  authorizer: Authorizer,
  call: OutgoingCall,
  { signal, handle }: Waiting,
): Promise<{ kind: 'authorized'; headers: Record<string, string> } | Failed> {
  const ended = new AbortController()
  let phase: TimeoutPhase | undefined
  if (handle) {
    handle.deadline = {
      end(why) {
        phase = why
        ended.abort()
      },
    }
  }
  try {
    const headers = await authorizer.authorize(call, AbortSignal.any([signal, ended.signal]))
    return { kind: 'authorized', headers }
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error
    if (phase !== undefined) return { kind: 'failed', failure: { kind: 'timeout', phase } }
    // Without a credential, nothing was sent to the provider.
    return { kind: 'failed', failure: { kind: 'unreachable', detail: error.message, isUnheard: true } }
  }
}
