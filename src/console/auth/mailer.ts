/** Sends the mails of sign-in by SMTP, or into the log where none is configured outside production. */
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'

export type Mail = { to: string; subject: string; text: string; link: string }

export interface Mailer {
  /** Returns at once, so that no answer tells by its time whether there was somebody to write to; failures are logged. */
  post(mail: Mail): void
}

export type MailSettings = { smtpUrl: string; from: string }

const TIMEOUT_MS = 10_000

/** Mail by SMTP. `smtpUrl` is `smtp://` or `smtps://`, with user and password where needed. */
function createSmtpMailer({ smtpUrl, from }: MailSettings, logger: Logger): Mailer {
  const transport = once(async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url: smtpUrl,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // What is sent is ours, but a name in it must never make the server read a file or fetch an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  })
  async function send({ to, subject, text }: Mail): Promise<void> {
    await (await transport()).sendMail({ from, to, subject, text })
  }
  return {
    post(mail) {
      const { subject } = mail
      send(mail).then(
        () => logger.info('mail_sent', { subject }),
        (error: unknown) => logger.error('mail_failed', { subject, error }),
      )
    },
  }
}

/** Mail that is only logged. */
function createLoggedMailer(logger: Logger): Mailer {
  return { post: ({ to, subject, link }) => logger.warn('mail_not_configured', { to, subject, link }) }
}

/** What sends mails here: undefined where nobody has said how, and it is production, in whose log nothing is to open an account. */
export function createMailer(
  mail: MailSettings | undefined,
  isProduction: boolean,
  logger: Logger,
): Mailer | undefined {
  if (mail) return createSmtpMailer(mail, logger)
  return isProduction ? undefined : createLoggedMailer(logger)
}
