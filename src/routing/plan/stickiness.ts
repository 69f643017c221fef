/**
 * Remembers which model a conversation talks to, so that a tier does not change it in the middle and the provider's prompt
 * cache stays warm. Kept in the process, and in the shared store for the turns that reach another gateway.
 */
import type { ChatRequest } from '@/chat/request'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import { sha256Hex } from '@/lib/ids'

/** The shared store. Losing what it holds costs a cold cache, nothing else. */
export interface SessionKeeper {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
}

export interface Stickiness {
  /** The model of the conversation, or undefined; asks the shared store only for what this process does not know. */
  recall(session: string): Promise<string | undefined>
  /** The conversation has had an answer from this model. Returns at once. */
  remember(session: string, modelId: string): void
}

/** A conversation that pauses longer has lost its prompt cache anyway. */
export const SESSION_SECONDS = 15 * 60
/** Conversations that one process remembers. */
export const MAX_SESSIONS = 50_000
/** The longest a request waits for the shared store. */
const RECALL_TIMEOUT_MS = 25
/** What is known here is written to the shared store again only this often. */
const REFRESH_MS = 60_000

type Entry = { modelId: string; atMs: number; sharedAtMs: number }

/** Creates the memory; without `keeper` it is this process's own. */
export function createStickiness(clock: Clock, keeper?: SessionKeeper): Stickiness {
  const sessions = createBoundedMap<string, Entry>(MAX_SESSIONS)

  return {
    async recall(session) {
      const known = sessions.get(session)
      const nowMs = clock.monotonic()
      if (known && nowMs - known.atMs < SESSION_SECONDS * 1000) return known.modelId
      if (!keeper) return undefined
      const modelId = await askKeeper(keeper, session)
      if (modelId) sessions.set(session, { modelId, atMs: nowMs, sharedAtMs: nowMs })
      return modelId
    },
    remember(session, modelId) {
      const nowMs = clock.monotonic()
      const known = sessions.get(session)
      const isShared = known?.modelId === modelId && nowMs - known.sharedAtMs < REFRESH_MS
      sessions.set(session, { modelId, atMs: nowMs, sharedAtMs: isShared ? known.sharedAtMs : nowMs })
      if (!isShared) keeper?.set(keyOf(session), modelId, SESSION_SECONDS).catch(() => undefined)
    },
  }
}

/**
 * The conversation that a request to a tier belongs to: what the caller named it, within the account and the tier; undefined
 * where nothing names it. `header` is `x-svc-session`.
 */
export function sessionOf(accountId: string, request: ChatRequest, header: string | undefined): string | undefined {
  const name = header || request.cacheKey || request.userId
  // A digest, because the name is whatever a client sends and ends up in the name of a key.
  return name ? sha256Hex(`${accountId}\n${request.model}\n${name}`).slice(0, 32) : undefined
}

function keyOf(session: string): string {
  return `routing:session:${session}`
}

/** A store that fails or takes too long has forgotten the conversation. */
async function askKeeper(keeper: SessionKeeper, session: string): Promise<string | undefined> {
  const asked = keeper.get(keyOf(session)).catch(() => null)
  return (await withDeadline(asked, RECALL_TIMEOUT_MS, () => null)) ?? undefined
}
