/**
 * Stores providers' signatures for clients whose format has no field for them. A provider that signs reasoning or tool calls refuses a
 * history without signatures. So they are stored under the tool calls' ids, and restored when a request contains these ids.
 */
import type { ChatRequest, ModelBlock, Turn } from '@/chat/request'
import { isJsonObject, parseJson } from '@/lib/json'
import { SHARED } from '@/limits/shared-resources'
import type { SignatureCollector, SignedCall } from './signature-collector'

/** The storage of signatures. If one is lost, the next request may be refused, but no money is lost. */
interface SignatureKeeper {
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
  get(key: string): Promise<string | null>
  delete(key: string): Promise<unknown>
  /** Adds to a count and returns it. The count restarts at zero `seconds` after its first use. */
  count(key: string, amount: number, seconds: number): Promise<number>
  /** Whether the store has no room for optional data. */
  isCrowded(): boolean
}

export interface SignatureStore {
  /** Stores the signatures of `collector` within the account's limit. Never rejects. */
  keep(accountId: string, collector: SignatureCollector): Promise<void>
  /** The request with missing signatures restored; the same object if nothing is missing. */
  restore(accountId: string, request: ChatRequest): Promise<ChatRequest>
  forget(accountId: string, callIds: readonly string[]): Promise<void>
}

/** Lifetime of signatures. A conversation that pauses for longer continues without them. */
const KEEP_SECONDS = 24 * 60 * 60
/** Maximum tool calls of one history that are looked up: the latest ones, which matter most. */
const MAX_LOOKUPS = 256
const MAX_ID_CHARS = 256
/** The most bytes of signatures per call, more than the longest reasoning needs. */
const MAX_BYTES = 1024 * 1024

export function createSignatureStore(keeper: SignatureKeeper): SignatureStore {
  async function keepAll(accountId: string, calls: ReadonlyMap<string, SignedCall>): Promise<unknown> {
    const texts = [...calls].flatMap(([id, signed]): [name: string, text: string, bytes: number][] => {
      const [name, text] = [keyOf(accountId, id), JSON.stringify(signed)]
      const bytes = name.length + Buffer.byteLength(text)
      return bytes > MAX_BYTES ? [] : [[name, text, bytes]]
    })
    const added = texts.reduce((sum, [, , bytes]) => sum + bytes, 0)
    if (added === 0 || (await keeper.count(countOf(accountId), added, KEEP_SECONDS)) > SHARED.signatures.perAccount)
      return
    return Promise.allSettled(texts.map(([name, text]) => keeper.set(name, text, KEEP_SECONDS)))
  }

  return {
    async keep(accountId, collector) {
      const signed = collector.signedCalls()
      if (signed.size === 0 || keeper.isCrowded()) return
      await keepAll(accountId, signed).catch(() => undefined)
    },
    async restore(accountId, request) {
      const ids = unsignedCallIds(request).slice(-MAX_LOOKUPS)
      if (ids.length === 0) return request
      const values = await Promise.all(ids.map((id) => keeper.get(keyOf(accountId, id)).catch(() => null)))
      const signed = new Map<string, SignedCall>()
      for (const [index, id] of ids.entries()) {
        const call = readSignedCall(values[index])
        if (call) signed.set(id, call)
      }
      return signed.size === 0 ? request : { ...request, turns: request.turns.map((turn) => resign(turn, signed)) }
    },
    async forget(accountId, callIds) {
      await Promise.all(callIds.map((id) => keeper.delete(keyOf(accountId, id))))
    },
  }
}

/** The Redis key for a call id of an account. A client may send any text as call id, so the id is shortened and escaped. */
function keyOf(accountId: string, callId: string): string {
  return `sig:${accountId}:${encodeURIComponent(callId.slice(0, MAX_ID_CHARS))}`
}

/** The Redis key of an account's byte count. It is shorter than the key of any call, so they never collide. */
const countOf = (accountId: string) => `sig:${accountId}`

function unsignedCallIds(request: ChatRequest): string[] {
  return request.turns.flatMap((turn) =>
    turn.content.flatMap((block) => (block.type === 'tool-call' && !block.signature ? [block.id] : [])),
  )
}

function readSignedCall(text: string | null | undefined): SignedCall | undefined {
  const value = parseJson(text ?? '')
  return isJsonObject(value) && Array.isArray(value.reasoning) ? (value as unknown as SignedCall) : undefined
}

function resign(turn: Turn, signed: ReadonlyMap<string, SignedCall>): Turn {
  if (turn.role !== 'assistant') return turn
  const hasOwnReasoning = turn.content.some(
    (block) => block.type === 'reasoning' && (block.signature || block.redacted),
  )
  const content = turn.content.flatMap((block): ModelBlock[] => {
    const found = block.type === 'tool-call' ? signed.get(block.id) : undefined
    if (block.type !== 'tool-call' || !found) return [block]
    const call = found.call && !block.signature ? { ...block, signature: found.call } : block
    return hasOwnReasoning ? [call] : [...found.reasoning, call]
  })
  return { ...turn, content }
}
