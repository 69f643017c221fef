/** Wires the outbox of mails: who sends it, and the desk for mails that a person waits for. */
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
  /** The service's name. */
  service: string
  logger: Logger
  onOutcome(outcome: MailOutcome): void
  /** How long the oldest usage record has waited for the history. */
  lagSeconds(): number
}

export type Mails = {
  worker: MailWorker
  /** Undefined if nothing can be sent. */
  desk: MailDesk | undefined
  /** What tokens and links are sealed by. */
  secrets(): Promise<Secrets>
  /** Undefined if nothing can be sent. */
  alerts: BackgroundWorker | undefined
}

/** The workers are not started yet. */
export function assembleMails({ config, database, service, logger, onOutcome, lagSeconds }: MailParts): Mails {
  const { publicUrl, signIn } = config
  const secrets = once(() => secretsOf(signIn.secrets, database))
  if (signIn.mail && publicUrl === undefined)
    logger.warn('mail_links_without_host', {
      hint: 'Set PUBLIC_URL: alerts have no links, and other mails lead to where a request was sent.',
    })
  const transport = createMailTransport(signIn.mail, config.isProduction, logger)
  const worker = createMailWorker({ database, transport, secrets, publicUrl, service, logger, onOutcome })
  const bookedUntilMs = () => systemClock.now() - lagSeconds() * 1000
  const alerts = transport && createAlertWorker({ database, clock: systemClock, logger, bookedUntilMs })
  return { worker, desk: transport && createMailDesk(secrets, worker.hurry), secrets, alerts }
}
