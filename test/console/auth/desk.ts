/** Sign-in over a real Redis and a real Postgres, without the web in front of it: each flow with a visitor made up for it. */

import { COMMAND_TIMEOUT_MS, freshDatabase, redisUrl } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { createMailDesk } from '@/accounts/mails/outbox'
import { createMailTransport, type MailSettings } from '@/accounts/mails/transport'
import { createMailWorker } from '@/accounts/mails/worker'
import { createAuth } from '@/console/auth/auth'
import type { AuthParts } from '@/console/auth/parts'
import { signUp } from '@/console/auth/sign-up'
import type { IdentifyViewer, Viewer } from '@/console/auth/viewer'
import type { Visitor } from '@/console/auth/visitor'
import { connectDatabase } from '@/db/client'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'

export type Desk = {
  parts: AuthParts
  redis: RedisClient
  identifyViewer: IdentifyViewer
  /** What was logged, one JSON text each; without a mail server, the links of mails too. */
  logLines: string[]
  close(): Promise<void>
}

/** Somebody signed in: what their browser sends from now on, and who they are. */
type SignedIn = { visitor: Visitor; viewer: Viewer; email: string; password: string }

export const PASSWORD = 'a horse on a battery'
export const SESSION_IDLE_SECONDS = 3_600
let visitors = 0

/** Opens sign-in on a database of its own. With `mail`, addresses have to be verified. */
export async function openDesk(mail?: MailSettings): Promise<Desk> {
  const logLines: string[] = []
  const logger = createLogger({ level: 'info', service: 'test', write: (line) => logLines.push(line) })
  const database = connectDatabase(await freshDatabase(), { maxConnections: 8 })
  const redis = connectRedis(await redisUrl(), { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  const secrets = async () => ['a secret of this desk, with forty characters'] as const
  const mails = createMailWorker({
    ...{ database, secrets, publicUrl: undefined, service: 'svc', logger, onOutcome: () => undefined },
    transport: createMailTransport(mail, false, logger),
  })
  mails.start()
  const { parts, identifyViewer } = createAuth({
    settings: {
      signUp: 'open',
      sessionIdleSeconds: SESSION_IDLE_SECONDS,
      sessionMaxSeconds: 30 * 86_400,
      secrets: undefined,
      mail,
    },
    publicUrl: undefined,
    mails: createMailDesk(secrets, mails.hurry),
    issuer: 'svc',
    database,
    redis,
    logger,
  })
  return {
    parts,
    redis,
    identifyViewer,
    logLines,
    async close() {
      await mails.stop()
      redis.disconnect()
      await database.close(0)
    },
  }
}

/** Somebody at an address that nobody else in these tests has, with the cookies of `answers` so far. */
export function visitorWith(cookies: readonly string[] = [], address = newAddress()): Visitor {
  const kept = cookies.filter((cookie) => !/max-age=0/i.test(cookie)).map((cookie) => cookie.split(';', 1)[0])
  const headers = { 'user-agent': 'Test browser', ...(kept.length > 0 && { cookie: kept.join('; ') }) }
  return { request: new Request('http://gateway.test/dashboard/api/session', { headers }), address }
}

/** An address of its own for each caller: counts of different tests must not meet. */
export function newAddress(): string {
  visitors += 1
  return `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`
}

/** Signs somebody up, and confirms the address. */
export async function signUpSomebody({ parts, identifyViewer }: Desk, name = 'Ada'): Promise<SignedIn> {
  const email = `${crypto.randomUUID()}@example.test`
  const address = newAddress()
  const { cookies } = await signUp(parts, visitorWith([], address), { name, email, password: PASSWORD })
  await parts.database.sql`UPDATE users SET email_verified = true WHERE email = ${email}`
  const visitor = visitorWith(cookies, address)
  const viewer = await identifyViewer(visitor.request)
  assert(viewer, 'who signs up is signed in')
  return { visitor, viewer, email, password: PASSWORD }
}

/** What went wrong, as a page would be told. */
export async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    const { kind, options } = error as { kind?: string; options?: { code?: string; param?: string } }
    return { kind, ...(options?.code && { code: options.code }), ...(options?.param && { param: options.param }) }
  }
  return 'nothing was refused'
}
