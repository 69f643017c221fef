/** Metrics for calls to Redis: by name and outcome, and a client's current load. */
import { Cluster } from 'ioredis'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import type { RedisClient } from '@/ledger/store/connection'

/** Named calls other than scripts: the server's identity, and the owner of an API key. */
const GUARDED_OPERATIONS = ['identity', 'key-hash'] as const
export type GuardedOperation = (typeof GUARDED_OPERATIONS)[number]

/** The names of all calls: the scripts, and {@link GUARDED_OPERATIONS}. */
export const STORE_OPERATIONS: readonly string[] = [
  ...Object.values(SCRIPTS).map(({ name }) => name),
  ...GUARDED_OPERATIONS,
]

/** Called with the duration of a call in milliseconds, and whether it succeeded. Must not throw. */
export type StoreCallListener = (operation: string, milliseconds: number, isAnswered: boolean) => void

/** A listener for the moment when a command is written to its connection. */
export interface SentListener {
  /** Called right after the write. Redis runs the commands of one connection in order. Must not throw. */
  onSent(): void
}

export type RedisLoad = {
  isConnected: boolean
  /** Commands without an answer yet. */
  inFlight: number
  /** How often the client has reconnected to its server or the cluster. */
  reconnects: number
}

/** Watches `client` from now on. Returns a function that reads its load. */
export function watchLoad(client: RedisClient): () => RedisLoad {
  let reconnects = 0
  client.on('reconnecting', () => {
    reconnects++
  })
  const nodes = () => (client instanceof Cluster ? client.nodes('all') : [client])
  return () => ({
    isConnected: client.status === 'ready',
    inFlight: nodes().reduce((sum, node) => sum + node.commandQueue.length, 0),
    reconnects,
  })
}
