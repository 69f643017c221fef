/** Remembers a conversation's model, in the process and in the shared store, so that prompt caches stay warm. */
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import type { Session } from './session'

/** The shared store. Losing what it holds costs a cold cache, nothing else. */
export interface SessionKeeper {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
}

/** Whether the model of this id is stronger than the one to be remembered, and could have served as well. */
type Outranks = (heldModelId: string) => boolean

export interface Stickiness {
  /** The model of the conversation, or undefined; asks the shared store only for what this process may not know. */
  recall(session: Session): Promise<string | undefined>
  /** The conversation has had an answer from this model, and keeps a stronger one that it already has. Returns at once. */
  remember(session: Session, modelId: string, outranks: Outranks): void
}

/** A conversation that pauses longer has lost its prompt cache anyway. */
export const SESSION_SECONDS = 15 * 60
/** Conversations that one process remembers. */
export const MAX_SESSIONS = 50_000
/** The longest a request waits for the shared store. */
const RECALL_TIMEOUT_MS = 25
/** What is known here is written to the shared store again only this often. */
const REFRESH_MS = 60_000
/** For so long another gateway is not expected to have moved a named conversation to a stronger model. */
const TRUST_MS = 1_000

type Entry = { modelId: string; atMs: number; sharedAtMs: number; readAtMs: number }

/** Creates the memory; without `keeper` it is this process's own. */
export function createStickiness(clock: Clock, keeper?: SessionKeeper): Stickiness {
  const sessions = createBoundedMap<string, Entry>(MAX_SESSIONS)

  function live(key: string, nowMs: number): Entry | undefined {
    const known = sessions.get(key)
    return known && nowMs - known.atMs < SESSION_SECONDS * 1000 ? known : undefined
  }

  return {
    async recall({ from, isNamed }) {
      if (from === undefined) return undefined
      const nowMs = clock.monotonic()
      const known = live(from, nowMs)
      // A nameless conversation continues under another digest, so the entry of the old one stays valid.
      if (known && (!isNamed || nowMs - known.readAtMs < TRUST_MS)) return known.modelId
      if (!keeper) return known?.modelId
      const held = await askKeeper(keeper, from)
      if (!held) return known?.modelId
      const sharedAtMs = known?.modelId === held ? known.sharedAtMs : nowMs
      sessions.set(from, { modelId: held, atMs: nowMs, sharedAtMs, readAtMs: nowMs })
      return held
    },
    remember(session, modelId, outranks) {
      const { to } = session
      const nowMs = clock.monotonic()
      const known = live(to, nowMs)
      const kept = known && outranks(known.modelId) ? known.modelId : modelId
      const isShared = known?.modelId === kept && nowMs - known.sharedAtMs < REFRESH_MS
      const sharedAtMs = isShared ? known.sharedAtMs : nowMs
      sessions.set(to, { modelId: kept, atMs: nowMs, sharedAtMs, readAtMs: known?.readAtMs ?? nowMs })
      if (keeper && !isShared) tellKeeper(keeper, session, kept, outranks).catch(() => undefined)
    },
  }
}

function keyOf(session: string): string {
  return `routing:session:${session}`
}

/** A store that fails or takes too long has forgotten the conversation. */
async function askKeeper(keeper: SessionKeeper, session: string): Promise<string | undefined> {
  const asked = keeper.get(keyOf(session)).catch(() => null)
  return (await withDeadline(asked, RECALL_TIMEOUT_MS, () => null)) ?? undefined
}

/** Another gateway may have moved a conversation that has a name to a stronger model meanwhile: that one stays. */
async function tellKeeper(
  keeper: SessionKeeper,
  { to, isNamed }: Session,
  modelId: string,
  outranks: Outranks,
): Promise<void> {
  const held = isNamed ? await keeper.get(keyOf(to)) : null
  if (held && held !== modelId && outranks(held)) return
  await keeper.set(keyOf(to), modelId, SESSION_SECONDS)
}
