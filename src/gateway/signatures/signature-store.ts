/**
 * Keeps providers' signatures for clients whose format has no room for them. A provider that signs its reasoning or its tool
 * calls refuses a history without the signatures; so what an answer signed is kept under its tool-call ids, and put back when
 * a request brings those ids again.
 */
import type { ChatRequest, ModelBlock, Turn } from '@/chat/request'
import { isJsonObject, parseJson } from '@/lib/json'
import { SHARED } from '@/limits/shared-resources'
import type { SignatureCollector, SignedCall } from './signature-collector'

/** Where the signatures are kept; losing one costs a refused follow-up, never money. */
interface SignatureKeeper {
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
  get(key: string): Promise<string | null>
  delete(key: string): Promise<unknown>
  /** Adds to a count that begins anew so long after its first. Returns what it is then. */
  count(key: string, amount: number, seconds: number): Promise<number>
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

/** Creates the store over a keeper, in which all processes count together. */
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

/** An account sees only its own; an id is whatever a client sends, so it is bounded and kept apart from the key's own parts. */
function keyOf(accountId: string, callId: string): string {
  return `sig:${accountId}:${encodeURIComponent(callId.slice(0, MAX_ID_CHARS))}`
}

/** Of the bytes that an account has kept lately. No name of a call is so short. */
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
