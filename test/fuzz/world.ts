/** The gateway that is attacked, seen from the attacker: a process of its own, its users, and what can be asked of it. */
import { join } from 'node:path'
import { assert } from '@/lib/assert'

/** One of five people, each with an account of their own. `spareKeyId` names a key that may be changed. */
export type FuzzUser = {
  key: string
  keyId: string
  spareKeyId: string
  cookie: string
  accountId: string
  orderId: string
  requestId: string
  sessionId: string
}

export type World = {
  url: string
  users: FuzzUser[]
  /** What must never be seen by anybody: keys of providers, passwords. */
  secrets: string[]
}

/** What the gateway did since it was last asked. */
export type Vitals = {
  /** The longest time that the event loop stood still because it was at work, in milliseconds. */
  stallMs: number
  /** After a collection of garbage. */
  heapBytes: number
  residentBytes: number
  /** Lines of the log that say that something unexpected happened, or that hold a secret. */
  alarms: string[]
}

export interface GatewayProcess {
  readonly world: World
  vitals(): Promise<Vitals>
  /** The key of a new account with so much credit, which has had nothing yet of what is counted by the minute. */
  customer(usd: string): Promise<string>
  /** A user as those of {@link World}, likewise new; with conversations as long as one may be only where they are wanted. */
  user(hasConversations: boolean): Promise<FuzzUser>
  stop(): Promise<void>
}

const PROGRAM = join(import.meta.dir, 'gateway-process.ts')

/** Starts the gateway with its users. */
export async function startGatewayProcess(): Promise<GatewayProcess> {
  const ready = Promise.withResolvers<World>()
  let answer: PromiseWithResolvers<Vitals> | undefined
  let key: PromiseWithResolvers<string> | undefined
  let user: PromiseWithResolvers<FuzzUser> | undefined
  const child = Bun.spawn(['bun', PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc(message: World | Vitals | { key: string } | { user: FuzzUser }) {
      if ('url' in message) ready.resolve(message)
      else if ('user' in message) user?.resolve(message.user)
      else if ('key' in message) key?.resolve(message.key)
      else answer?.resolve(message)
    },
    onExit: () => ready.reject(new Error('the gateway did not start')),
  })
  const world = await ready.promise
  return {
    world,
    vitals() {
      assert(child.exitCode === null, 'the gateway is alive')
      answer = Promise.withResolvers<Vitals>()
      child.send('vitals')
      return answer.promise
    },
    customer(usd) {
      key = Promise.withResolvers<string>()
      child.send({ usd })
      return key.promise
    },
    user(hasConversations) {
      user = Promise.withResolvers<FuzzUser>()
      child.send({ hasConversations })
      return user.promise
    },
    async stop() {
      child.send('stop')
      await child.exited
    },
  }
}
