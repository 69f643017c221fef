import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import type { RenderedMail } from './render'

export type MailSettings = { smtpUrl: string; from: string }

type OutgoingMail = RenderedMail & {
  /** The same id at each attempt, so that a mail client shows a mail once even if it was delivered twice. */
  id: string
  to: string
  /** Link for the mail client's one-click unsubscribe (RFC 8058). */
  unsubscribeUrl?: string | undefined
}

/**
 * `away`: no server, or the server accepts no mail. `later`: a temporary refusal. `failed`: a permanent refusal. `refused`: the address
 * doesn't exist. `reason` is the error's text.
 */
export type SendOutcome = { kind: 'sent' } | { kind: 'away' | 'later' | 'failed' | 'refused'; reason: string }

export interface MailTransport {
  /** Never rejects. */
  send(mail: OutgoingMail): Promise<SendOutcome>
}

const TIMEOUT_MS = 10_000
const MAX_REASON_CHARS = 300

/** Sends mails through an SMTP server. Without one, logs them, or returns undefined in production: logged links could open accounts. */
export function createMailTransport(
  settings: MailSettings | undefined,
  isProduction: boolean,
  logger: Logger,
): MailTransport | undefined {
  if (settings) return createSmtpTransport(settings)
  return isProduction ? undefined : createLoggedTransport(logger)
}

/** Sends by SMTP. `smtpUrl` is `smtp://` or `smtps://`, with user and password if needed. */
function createSmtpTransport({ smtpUrl, from }: MailSettings): MailTransport {
  const transport = once(async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url: smtpUrl,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // A name in a mail must never make the library read a file or fetch a URL.
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
/** The server's code for "closing the connection". */
const CLOSING = 421

function meaningOf(error: unknown): SendOutcome {
  const { code, command, responseCode, message } = error as {
    code?: string
    command?: string
    responseCode?: number
    message?: string
  }
  const reason = (message ?? String(error)).slice(0, MAX_REASON_CHARS)
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE'
  // The error is not about this mail: no connection, a bad certificate or password, or a sender that the server does not accept.
  if (!isOfMail || command === 'MAIL FROM' || responseCode === CLOSING) return { kind: 'away', reason }
  if (responseCode !== undefined && responseCode < LOWEST_PERMANENT) return { kind: 'later', reason }
  const isOfAddress = command === 'RCPT TO' && responseCode !== undefined && NO_SUCH_ADDRESS.test(reason)
  return { kind: isOfAddress ? 'refused' : 'failed', reason }
}

/** Reply codes for a bad address or a closed mailbox (RFC 3463). A 550 without a status code counts too. */
const NO_SUCH_ADDRESS = /\b55[013][ -](5\.1\.\d|5\.2\.1\b|(?!\d\.\d+\.\d))/

function createLoggedTransport(logger: Logger): MailTransport {
  return {
    async send({ to, subject, link }) {
      logger.warn('mail_not_configured', { to, subject, link })
      return { kind: 'sent' }
    },
  }
}
