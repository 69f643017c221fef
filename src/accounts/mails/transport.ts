/** How mails leave: by SMTP, or into the log where no server is configured outside production. */
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import type { RenderedMail } from './render'

export type MailSettings = { smtpUrl: string; from: string }

type OutgoingMail = RenderedMail & {
  /** The same for each try, so that a mail that was taken twice is shown once. */
  id: string
  to: string
  /** Where a program of the recipient unsubscribes without asking them (RFC 8058). */
  unsubscribeUrl?: string | undefined
}

/**
 * `away`: the server can't be reached, or takes nothing from us. `later`: it refused this mail for now. `failed`: for good. `refused`: there
 * is no such address. `reason` may name the address.
 */
export type SendOutcome = { kind: 'sent' } | { kind: 'away' | 'later' | 'failed' | 'refused'; reason: string }

export interface MailTransport {
  /** Never rejects. */
  send(mail: OutgoingMail): Promise<SendOutcome>
}

const TIMEOUT_MS = 10_000
const MAX_REASON_CHARS = 300

/** The sender of mails. Undefined in production without settings: nothing in its log may open an account. */
export function createMailTransport(
  settings: MailSettings | undefined,
  isProduction: boolean,
  logger: Logger,
): MailTransport | undefined {
  if (settings) return createSmtpTransport(settings)
  return isProduction ? undefined : createLoggedTransport(logger)
}

/** Mail by SMTP. `smtpUrl` is `smtp://` or `smtps://`, with user and password where needed. */
function createSmtpTransport({ smtpUrl, from }: MailSettings): MailTransport {
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
  const host = /@([^\s@>]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ id, to, subject, text, html, unsubscribeUrl }) {
      const headers = { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribeUrl) }
      try {
        await (await transport()).sendMail({ from, to, subject, text, html, headers, messageId: `<${id}@${host}>` })
        return { kind: 'sent' }
      } catch (error) {
        return meaningOf(error)
      }
    },
  }
}

function unsubscribeHeaders(url: string | undefined): Record<string, string> {
  if (url === undefined) return {}
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

const LOWEST_PERMANENT = 500
/** The server says that it is about to close. */
const CLOSING = 421

/** What a failure of the library means for the mail. */
function meaningOf(error: unknown): SendOutcome {
  const { code, command, responseCode, message } = error as {
    code?: string
    command?: string
    responseCode?: number
    message?: string
  }
  const reason = (message ?? String(error)).slice(0, MAX_REASON_CHARS)
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE'
  // No answer to this mail: no way there, a certificate or a password that is wrong, or a sender whom the server does not take.
  if (!isOfMail || command === 'MAIL FROM' || responseCode === CLOSING) return { kind: 'away', reason }
  if (responseCode !== undefined && responseCode < LOWEST_PERMANENT) return { kind: 'later', reason }
  const isOfAddress = command === 'RCPT TO' && responseCode !== undefined && NO_SUCH_ADDRESS.test(reason)
  return { kind: isOfAddress ? 'refused' : 'failed', reason }
}

/** A bad address, or a mailbox that was closed (RFC 3463); a server that says no more than 550 means the same. */
const NO_SUCH_ADDRESS = /\b55[013][ -](5\.1\.\d|5\.2\.1\b|(?!\d\.\d+\.\d))/

/** Mail that is only logged. */
function createLoggedTransport(logger: Logger): MailTransport {
  return {
    async send({ to, subject, link }) {
      logger.warn('mail_not_configured', { to, subject, link })
      return { kind: 'sent' }
    },
  }
}
