/** Changing the sign-in secret: the first listed secret encrypts, all listed secrets decrypt. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { COMMAND_TIMEOUT_MS, freshDatabase, redisUrl } from '@test/support/stores'
import { totpCode } from '@test/support/totp'
import { PATIENCE_MS } from '@test/support/until'
import { readUnsubscribeToken, unsubscribeLink } from '@/accounts/alerts/unsubscribe'
import { resetTotp } from '@/accounts/operator-access'
import { type Auth, createAuth } from '@/console/auth/auth'
import { finishSignIn, signIn } from '@/console/auth/sign-in'
import { confirmTotp, enableTotp } from '@/console/auth/totp/second-factor'
import { connectDatabase, type Database } from '@/db/client'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'
import type { Secrets } from '@/lib/secrets'
import { PASSWORD, refusalOf, signUpSomebody, visitorWith } from './desk'

const FORMER = 'the former secret, of more than thirty-two characters'
const NEW = 'the newer secret, of more than thirty-two characters'

let database: Database
let redis: RedisClient
const logger = createLogger({ level: 'info', service: 'test', write: () => undefined })

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 8 })
  redis = connectRedis(await redisUrl(), { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
})
afterAll(async () => {
  redis.disconnect()
  await database.close(0)
})

/** A gateway's sign-in by these secrets, on the same stores as all others. */
function authBy(secrets: Secrets | undefined): Auth {
  const settings = { signUp: 'open', sessionIdleSeconds: 3_600, sessionMaxSeconds: 86_400, mail: undefined } as const
  return createAuth({
    ...{ settings: { ...settings, secrets }, mails: undefined, publicUrl: undefined, issuer: 'svc' },
    ...{ database, redis, logger },
  })
}

/** Somebody who has set up a second step at a gateway with `secrets`. */
async function withTotp(secrets: Secrets | undefined) {
  const auth = authBy(secrets)
  const desk = { ...auth, redis, logLines: [], close: async () => undefined }
  const ada = await signUpSomebody(desk)
  const { secret, backupCodes } = await enableTotp(auth.parts, ada.visitor, ada.viewer, PASSWORD)
  await confirmTotp(auth.parts, ada.visitor, ada.viewer, totpCode(secret))
  return { ...ada, secret, backupCodes }
}

type Ada = Awaited<ReturnType<typeof withTotp>>

async function secondStep({ parts }: Auth, ada: Ada, input: Parameters<typeof finishSignIn>[2]) {
  const first = await signIn(parts, visitorWith(), ada)
  expect(first.body.status).toBe('totp_required')
  return finishSignIn(parts, visitorWith(first.cookies), input)
}

test.each([
  ['after a new secret', [NEW, FORMER]],
  ['before a secret that was never used', [FORMER, NEW]],
  ['after two new secrets', [NEW, `${NEW} of later`, FORMER]],
] as const)('a second factor works while the secret that encrypted it is listed: %s', async (_, secrets) => {
  const ada = await withTotp([FORMER])
  const auth = authBy(secrets)
  const code = totpCode(ada.secret, 1)
  expect((await secondStep(auth, ada, { kind: 'totp', code })).body).toEqual({ status: 'signed_in' })
  const [backup = ''] = ada.backupCodes
  expect((await secondStep(auth, ada, { kind: 'backup', code: backup })).body).toEqual({ status: 'signed_in' })
})

test('data encrypted with the new secret can be read without the former one', async () => {
  const ada = await withTotp([NEW, FORMER])
  const code = totpCode(ada.secret, 1)
  expect((await secondStep(authBy([NEW]), ada, { kind: 'totp', code })).body).toEqual({ status: 'signed_in' })
})

test.each([[[FORMER] as const], [undefined]])(
  'codes are refused with the reason if no secret decrypts the second factor, until the operator resets it: %j',
  async (before) => {
    const ada = await withTotp(before)
    const auth = authBy([NEW])
    const [backup = ''] = ada.backupCodes
    const unreadable = expect.objectContaining({ kind: 'conflict', code: 'second_step_unreadable' })
    expect(await refusalOf(secondStep(auth, ada, { kind: 'totp', code: totpCode(ada.secret, 1) }))).toEqual(unreadable)
    expect(await refusalOf(secondStep(auth, ada, { kind: 'backup', code: backup }))).toEqual(unreadable)
    await resetTotp(database, ada.email, undefined)
    expect((await signIn(auth.parts, visitorWith(), ada)).body.status).toBe('signed_in')
  },
)

test('a session signed with a removed secret ends, and signing in works', async () => {
  const former = authBy([FORMER])
  const ada = await signUpSomebody({ ...former, redis, logLines: [], close: async () => undefined })
  const auth = authBy([NEW, FORMER])
  expect(await auth.identifyViewer(ada.visitor.request)).toBeUndefined()
  expect((await signIn(auth.parts, visitorWith(), ada)).body.status).toBe('signed_in')
})

test('links that turn mails off work while their secret is listed', () => {
  const who = { accountId: 'acct_1', email: 'ada@example.test', kind: 'budget' } as const
  const token = new URL(unsubscribeLink([FORMER], who), 'http://x').searchParams.get('token') ?? ''
  expect(readUnsubscribeToken([NEW, FORMER], token)).toEqual(who)
  expect(readUnsubscribeToken([NEW], token)).toBeUndefined()
})
