/** Calls to the store for metrics: by name, with their outcome, and what a client is doing now. */
import { Cluster } from 'ioredis'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import type { RedisClient } from '@/ledger/store/connection'

/** Calls that are no scripts, and named: which server it is, and whose an API key is. */
const GUARDED_OPERATIONS = ['identity', 'key-hash'] as const
export type GuardedOperation = (typeof GUARDED_OPERATIONS)[number]

/** The name of every call that a listener can be told of: the scripts', and those above. */
export const STORE_OPERATIONS: readonly string[] = [
  ...Object.values(SCRIPTS).map(({ name }) => name),
  ...GUARDED_OPERATIONS,
]

/** Told how long a call of the store took, in milliseconds, and whether it was answered well. Must not throw. */
export type StoreCallListener = (operation: string, milliseconds: number, isAnswered: boolean) => void

export type RedisLoad = {
  /** Whether commands can be sent. */
  isConnected: boolean
  /** Commands that were sent and not answered yet. */
  inFlight: number
  /** How often the client has lost its server, or the whole cluster, and looked for it again. */
  reconnects: number
}

/** Watches `client` from now on. Returns how to read what it does. */
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
