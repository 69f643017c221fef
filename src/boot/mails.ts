/** Connects the mail outbox: its worker, and the desk for mails that a person waits for. */
import { createAlertWorker } from '@/accounts/alerts/worker'
import { createMailDesk, type MailDesk } from '@/accounts/mails/outbox'
import { createMailTransport } from '@/accounts/mails/transport'
import { createMailWorker, type MailOutcome, type MailWorker } from '@/accounts/mails/worker'
import type { Config } from '@/config/config'
import { secretsOf } from '@/console/auth/secret'
import type { Database } from '@/db/client'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import type { Secrets } from '@/lib/secrets'
import type { BackgroundWorker } from '@/lib/worker-loop'

type MailParts = {
  config: Config
  database: Database
  service: string
  logger: Logger
  onOutcome(outcome: MailOutcome): void
  /** Age of the oldest usage record that is not yet in Postgres, in seconds. */
  lagSeconds(): number
}

export type Mails = {
  worker: MailWorker
  /** Undefined if no mail can be sent. */
  desk: MailDesk | undefined
  secrets(): Promise<Secrets>
  /** Undefined if no mail can be sent. */
  alerts: BackgroundWorker | undefined
}

export function assembleMails({ config, database, service, logger, onOutcome, lagSeconds }: MailParts): Mails {
  const { publicUrl, signIn, brand } = config
  const secrets = once(() => secretsOf(signIn.secrets, database))
  if (signIn.mail && publicUrl === undefined)
    logger.warn('mail_links_without_host', {
      hint: 'Set PUBLIC_URL: alerts have no links, and other mails lead to where a request was sent.',
    })
  const transport = createMailTransport(signIn.mail, config.isProduction, logger)
  const worker = createMailWorker({
    ...{ database, transport, secrets, publicUrl, service: brand.name ?? service, brand, logger, onOutcome },
  })
  const bookedUntilMs = () => systemClock.now() - lagSeconds() * 1000
  const alerts = transport && createAlertWorker({ database, clock: systemClock, logger, bookedUntilMs })
  return { worker, desk: transport && createMailDesk(secrets, worker.hurry), secrets, alerts }
}
