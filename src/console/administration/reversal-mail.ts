/** Writes to the administrators about money that was taken back and moved no credit: somebody has to look, and nobody watches a list. */
import { and, eq, isNull } from 'drizzle-orm'
import type { Mailer } from '@/console/auth/mailer'
import { formatCents } from '@/console/orders/cents'
import type { Reversal } from '@/console/orders/types'
import { users } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import type { Logger } from '@/lib/logger'

type ReversalMailParts = {
  database: Database
  mailer: Mailer
  /** Where the dashboard is, without a trailing slash; undefined: the link is its path alone. */
  publicUrl: string | undefined
  logger: Logger
}

/** More than any installation has. */
const MAX_ADMINISTRATORS = 100

/** Returns at once and never throws; a mail that can't be sent is logged. */
export function createReversalMail({ database, mailer, publicUrl = '', logger }: ReversalMailParts) {
  async function send({ kind, amountCents, currency, undoes, orderId }: Reversal): Promise<void> {
    const administrators = await database.db
      .select({ email: users.email })
      .from(users)
      .where(and(eq(users.role, 'admin'), eq(users.emailVerified, true), isNull(users.disabledAt)))
      .limit(MAX_ADMINISTRATORS)
    const link = `${publicUrl}/dashboard/admin/orders`
    const what = `A ${kind} of ${formatCents(amountCents)} ${currency} has moved no credit.`
    const why = orderId === null ? 'Nobody here knows what it undoes' : 'It does not fit what its order has got'
    const text = `${what}\n\n${why} (${undoes}). Decide under "Chargebacks to look at":\n\n${link}\n`
    const subject = `A ${kind} needs somebody to look`
    for (const { email: to } of administrators) mailer.post({ to, subject, text, link })
  }
  return (reversal: Reversal): void =>
    void send(reversal).catch((error: unknown) =>
      logger.error('reversal_mail_failed', { reversalId: reversal.reversalId, error }),
    )
}
