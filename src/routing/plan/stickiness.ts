/** Remembers a conversation's model, in the process and in Redis, so that prompt caches stay useful. */
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import type { Session } from './session'

/** The shared store. Losing its data only costs a missed prompt cache. */
export interface SessionKeeper {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
}

/** Whether the model with this id is stronger than the new one, and could have served the request too. */
type Outranks = (heldModelId: string) => boolean

export interface Stickiness {
  /** The conversation's model, or undefined. Asks Redis only if this process doesn't know the latest model. */
  recall(session: Session): Promise<string | undefined>
  /** Notes that this model answered, unless the conversation already has a stronger one. Returns at once. */
  remember(session: Session, modelId: string, outranks: Outranks): void
}

/** Time for which a model is remembered. After a longer pause, the provider's prompt cache has expired anyway. */
export const SESSION_SECONDS = 15 * 60
export const MAX_SESSIONS = 50_000
/** Maximum wait of a request for Redis. */
const RECALL_TIMEOUT_MS = 25
/** Known models are written to Redis again at this interval. */
const REFRESH_MS = 60_000
/** For this time after a read, a named conversation's model is used without asking Redis again. */
const TRUST_MS = 1_000

type Entry = { modelId: string; atMs: number; sharedAtMs: number; readAtMs: number }

/** Creates the memory; without `keeper` only in this process. */
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
      // An unnamed conversation continues under another digest, so the old digest's entry stays valid.
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

/** If Redis fails or is too slow, the conversation counts as unknown. */
async function askKeeper(keeper: SessionKeeper, session: string): Promise<string | undefined> {
  const asked = keeper.get(keyOf(session)).catch(() => null)
  return (await withDeadline(asked, RECALL_TIMEOUT_MS, () => null)) ?? undefined
}

/** Writes the conversation's model to Redis, unless another gateway has meanwhile chosen a stronger one. */
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
