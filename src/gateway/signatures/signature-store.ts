/**
 * Keeps providers' signatures for clients whose format has no room for them. A provider that signs its reasoning or its tool
 * calls refuses a history without the signatures; so what an answer signed is kept under its tool-call ids, and put back when
 * a request brings those ids again.
 */
import type { ChatRequest, ContentBlock, Turn } from '@/chat/request'
import { isJsonObject, parseJson } from '@/lib/json'
import { createAllowance } from '@/lib/quota/allowance'
import { SHARED } from '@/limits/shared-resources'
import type { SignatureCollector, SignedCall } from './signature-collector'

/** Where the signatures are kept; losing one costs a refused follow-up, never money. */
interface SignatureKeeper {
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
  get(key: string): Promise<string | null>
  delete(key: string): Promise<unknown>
  /** Whether there is no room there for what can be done without. */
  isCrowded(): boolean
}

export interface SignatureStore {
  /** Keeps what `collector` saw, as far as the account may have so much kept. Never rejects. */
  keep(accountId: string, collector: SignatureCollector): Promise<void>
  /** The request with the signatures put back that its history lost. The same object where there was nothing to put back. */
  restore(accountId: string, request: ChatRequest): Promise<ChatRequest>
  /** Drops what was signed around these calls. */
  forget(accountId: string, callIds: readonly string[]): Promise<void>
}

/** A conversation that pauses longer than this starts without its old signatures. */
const KEEP_SECONDS = 24 * 60 * 60
/** Tool calls of one history that are looked up; the latest matter most. */
const MAX_LOOKUPS = 256
const MAX_ID_CHARS = 256
/** What a provider has signed around one call: the longest that a model thinks is less. */
const MAX_BYTES = 1024 * 1024

/** Creates the store of one process over a keeper. */
export function createSignatureStore(keeper: SignatureKeeper, monotonicMs: () => number): SignatureStore {
  const bytes = createAllowance(() => SHARED.signatures.perAccount, monotonicMs, KEEP_SECONDS * 1000)

  function keepOne(accountId: string, id: string, signed: SignedCall): Promise<unknown> | undefined {
    const name = keyOf(accountId, id)
    const text = JSON.stringify(signed)
    const size = name.length + Buffer.byteLength(text)
    if (size > MAX_BYTES || bytes.take(accountId, size) > 0) return undefined
    return keeper.set(name, text, KEEP_SECONDS)
  }

  return {
    async keep(accountId, collector) {
      const signed = collector.signedCalls()
      if (signed.size === 0 || keeper.isCrowded()) return
      await Promise.allSettled([...signed].map(([id, call]) => keepOne(accountId, id, call)))
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

/** An account sees only its own; an id is whatever a client sends, so it is bounded and kept apart from the key's own parts. */
function keyOf(accountId: string, callId: string): string {
  return `sig:${accountId}:${encodeURIComponent(callId.slice(0, MAX_ID_CHARS))}`
}

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
  const hasOwnReasoning = turn.content.some(
    (block) => block.type === 'reasoning' && (block.signature || block.redacted),
  )
  const content = turn.content.flatMap((block): ContentBlock[] => {
    const found = block.type === 'tool-call' ? signed.get(block.id) : undefined
    if (block.type !== 'tool-call' || !found) return [block]
    const call = found.call && !block.signature ? { ...block, signature: found.call } : block
    return hasOwnReasoning ? [call] : [...found.reasoning, call]
  })
  return { ...turn, content }
}
