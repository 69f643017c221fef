/** The mail outbox on a real Postgres and a real SMTP server: no mail is lost or sent twice, and kinds of refusals are told apart. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { createMailDesk, writeMails } from '@/accounts/mails/outbox'
import { createMailTransport } from '@/accounts/mails/transport'
import { createMailWorker, type MailOutcome, type MailWorker } from '@/accounts/mails/worker'
import { connectDatabase, type Database } from '@/db/client'
import { createLogger } from '@/lib/logger'
import type { Secrets } from '@/lib/secrets'

const FROM = 'The Gateway <mail@gateway.example.test>'
const SECRET = async (): Promise<Secrets> => ['a secret that is long enough for anybody']
/** Of a kind that goes to any address. */
const MAIL = { kind: 'address_in_use', facts: {} } as const

let database: Database
const logLines: string[] = []
const logger = createLogger({ level: 'info', service: 'test', write: (line) => logLines.push(line) })

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 16 })
})
beforeEach(async () => {
  await database.sql`DELETE FROM mails`
  await database.sql`DELETE FROM refused_mail_addresses`
})
afterAll(() => database.close())

/** A worker as a gateway runs it; `smtpUrl` undefined: production without any mail. */
function worker(smtpUrl: string | undefined, outcomes: MailOutcome[] = [], secrets = SECRET): MailWorker {
  const transport = createMailTransport(smtpUrl === undefined ? undefined : { smtpUrl, from: FROM }, true, logger)
  const publicUrl = 'https://gateway.example.test'
  const own = createMailWorker({
    ...{ database, transport, secrets, publicUrl, service: 'svc', logger },
    onOutcome: (outcome) => outcomes.push(outcome),
  })
  own.start()
  return own
}

/** Runs `work` beside a worker that is stopped in any case. */
async function beside(own: MailWorker, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } finally {
    await own.stop()
  }
}

const rows = () => database.sql<
  { state: string; tries: number; sealed_token: string | null; facts: object; failure: string }[]
>`
  SELECT state, tries, sealed_token, facts, failure FROM mails ORDER BY created_at, recipient`
const stateIs = (state: string) => until(async () => (await rows()).every((row) => row.state === state), `all ${state}`)
/** What would come a minute later comes now. */
const due = () => database.sql`UPDATE mails SET next_try_at = now() WHERE state = 'waiting'`

async function withServer(
  refuse: ((command: string, address: string) => string | undefined) | undefined,
  work: (server: MailServer) => Promise<void>,
): Promise<void> {
  const server = await startMailServer(refuse ? { refuse } : {})
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

describe('the outbox', () => {
  test('a mail is sent only after its transaction commits, once per event and recipient', async () => {
    const failing = database.db.transaction(async (transaction) => {
      await writeMails(transaction, MAIL, ['ada@example.test'])
      throw new Error('undone')
    })
    await expect(failing).rejects.toThrow('undone')
    for (let time = 0; time < 2; time++)
      await writeMails(database.db, MAIL, ['ada@example.test', 'ADA@example.test', 'bob@example.test'], {
        eventId: 'one',
      })
    expect(await rows()).toHaveLength(2)
  })

  test('a mail’s token is encrypted while the mail waits; token and text are deleted after sending', async () => {
    const token = 'theTokenThatOpensSomething'
    const desk = createMailDesk(SECRET, () => undefined)
    const link = { token, origin: 'http://ignored.test' }
    await desk.post(database.db, 'ada@example.test', { kind: 'reset_password', facts: {} }, link)
    expect(JSON.stringify(await database.sql`SELECT * FROM mails`)).not.toContain(token)
    await withServer(undefined, async (server) => {
      await beside(worker(server.url), async () => {
        const found = await server.find('ada@example.test', /(https:\S+#token=\w+)/)
        expect(found).toBe(`https://gateway.example.test/dashboard/reset-password#token=${token}`)
        await stateIs('sent')
      })
    })
    expect(await rows()).toMatchObject([{ sealed_token: null, facts: {} }])
    expect(logLines.join('')).not.toContain(token)
  })

  test('a mail token that was encrypted with a former secret can be read', async () => {
    const desk = createMailDesk(SECRET, () => undefined)
    await desk.post(database.db, 'ada@example.test', { kind: 'verify_email', facts: {} }, { token: 'abc', origin: '' })
    await withServer(undefined, async (server) => {
      await beside(
        worker(server.url, [], async () => ['another secret, long enough too', ...(await SECRET())]),
        () => stateIs('sent'),
      )
      expect(server.mails).toHaveLength(1)
    })
  })

  test('a mail whose token was encrypted with an unknown secret is given up', async () => {
    const desk = createMailDesk(SECRET, () => undefined)
    await desk.post(database.db, 'ada@example.test', { kind: 'verify_email', facts: {} }, { token: 'abc', origin: '' })
    await withServer(undefined, async (server) => {
      await beside(
        worker(server.url, [], async () => ['another secret, long enough too']),
        () => stateIs('failed'),
      )
      expect(server.mails).toEqual([])
    })
  })

  test('many gateways share the outbox and send each mail once', async () => {
    const to = Array.from({ length: 60 }, (_, index) => `person${index}@example.test`)
    await writeMails(database.db, MAIL, to)
    await withServer(undefined, async (server) => {
      const workers = [1, 2, 3, 4].map(() => worker(server.url))
      await stateIs('sent')
      await Promise.all(workers.map((own) => own.stop()))
      expect(server.mails.map((mail) => mail.to).sort()).toEqual([...to].sort())
    })
  })

  test('while the SMTP server is unreachable, mails wait without using up attempts, also over restarts', async () => {
    const first = await startMailServer()
    await first.stop()
    const outcomes: MailOutcome[] = []
    await writeMails(database.db, MAIL, ['ada@example.test', 'bob@example.test'])
    await beside(worker(first.url, outcomes), () => until(() => outcomes.length >= 2, 'tries'))
    expect(new Set(outcomes)).toEqual(new Set(['away']))
    expect(await rows()).toMatchObject([
      { state: 'waiting', tries: 0 },
      { state: 'waiting', tries: 0 },
    ])
    await due()
    const again = await startMailServer({ port: first.port })
    await beside(worker(again.url), () => stateIs('sent'))
    expect(again.mails.map(({ to }) => to).sort()).toEqual(['ada@example.test', 'bob@example.test'])
    await again.stop()
  })

  test('a mail that a dead gateway had begun to send is sent again', async () => {
    await writeMails(database.db, MAIL, ['ada@example.test'])
    await database.sql`UPDATE mails SET next_try_at = now() + interval '1 minute'`
    await withServer(undefined, async (server) => {
      await beside(worker(server.url), async () => {
        await due()
        await stateIs('sent')
      })
      expect(server.mails[0]?.raw).toMatch(/^Message-ID: <mail_\w+@gateway\.example\.test>$/m)
    })
  })

  test('mails whose kind only a newer version knows stay in the outbox', async () => {
    await database.sql`INSERT INTO mails (id, event_id, recipient, kind, facts, owner, rank, expires_at)
      VALUES ('mail_new', 'new', 'ada@example.test', 'of_tomorrow', '{}', 'acct_1', 1, now() + interval '1 day')`
    await writeMails(database.db, MAIL, ['bob@example.test'])
    await withServer(undefined, async (server) => {
      await beside(worker(server.url), () => until(() => server.mails.length === 1, 'the other mail'))
    })
    expect(await database.sql`SELECT state FROM mails WHERE id = 'mail_new'`).toMatchObject([{ state: 'waiting' }])
  })

  test('expired mails are not sent, and are deleted after 30 days', async () => {
    await writeMails(database.db, MAIL, ['ada@example.test', 'old@example.test'])
    await database.sql`UPDATE mails SET expires_at = now()`
    await database.sql`UPDATE mails SET created_at = now() - interval '31 days' WHERE recipient = 'old@example.test'`
    await withServer(undefined, async (server) => {
      await beside(worker(server.url), () => stateIs('expired'))
      expect(server.mails).toEqual([])
    })
    expect(await rows()).toHaveLength(1)
  })

  test('mails that fail stay in the outbox; number and age of waiting mails are reported by kind', async () => {
    await writeMails(database.db, MAIL, ['ada@example.test'])
    await database.sql`UPDATE mails SET due_at = now() - interval '90 seconds'`
    const own = worker(undefined)
    await beside(own, () => until(() => own.waiting().mails === 1, 'a look'))
    expect(own.waiting().seconds).toBeGreaterThanOrEqual(90)
  })
})

describe('a refusal by the mail server', () => {
  test('a mail with a temporary refusal is tried three times, then given up', async () => {
    await withServer(
      (command) => (command === 'RCPT' ? '451 4.7.1 greylisted, try later' : undefined),
      async ({ url }) => {
        const outcomes: MailOutcome[] = []
        await writeMails(database.db, MAIL, ['ada@example.test'])
        await beside(worker(url, outcomes), async () => {
          for (let tries = 1; tries <= 3; tries++) {
            await until(() => outcomes.length === tries, `try ${tries}`)
            await due()
          }
          await stateIs('failed')
        })
        expect(outcomes).toEqual(['retried', 'retried', 'failed'])
        expect(await rows()).toMatchObject([{ tries: 3, failure: expect.stringContaining('greylisted') }])
      },
    )
  })

  test.each([
    ['RCPT', '550 5.1.1 <gone@example.test> no such user', 'refused', true],
    ['RCPT', '550 no such user here', 'refused', true],
    ['RCPT', '550 5.7.1 your address is on a list', 'failed', false],
    ['RCPT', '552 5.2.2 the mailbox is full', 'failed', false],
    ['.', '554 5.7.1 looks like spam', 'failed', false],
    ['MAIL', '550 5.7.1 not your sender', 'away', false],
    ['MAIL', '421 too busy', 'away', false],
  ] as const)('a refusal of %s by "%s" has the result %s', async (place, answer, expected, isRemembered) => {
    await withServer(
      (command) => (command === place ? answer : undefined),
      async ({ url }) => {
        const outcomes: MailOutcome[] = []
        await writeMails(database.db, MAIL, ['gone@example.test'])
        await beside(worker(url, outcomes), () => until(() => outcomes.length > 0, 'a try'))
        expect(outcomes[0]).toBe(expected)
        const refused = await database.sql`SELECT email FROM refused_mail_addresses`
        expect(refused.map(({ email }) => email)).toEqual(isRemembered ? ['gone@example.test'] : [])
        expect(logLines.join('')).not.toContain('gone@example.test')
      },
    )
  })

  test('a permanent refusal of an address ends when it accepts a mail that cannot be turned off', async () => {
    await database.sql`INSERT INTO refused_mail_addresses (email, reason) VALUES ('back@example.test', '550')`
    await writeMails(database.db, MAIL, ['back@example.test'])
    await withServer(undefined, async ({ url }) => {
      await beside(worker(url), () => stateIs('sent'))
    })
    expect(await database.sql`SELECT FROM refused_mail_addresses`).toHaveLength(0)
  })
})
