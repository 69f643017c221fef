/** A desk where mail is sent, people who sign in at it, and the links that are mailed to them. */
import { type Desk, newAddress, openDesk, PASSWORD, visitorWith } from '@test/console/auth/desk'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { until } from '@test/support/until'
import { createUser } from '@/accounts/users'
import { askForAddress } from '@/console/auth/address/ask'
import { confirmAddress } from '@/console/auth/address/confirm'
import { signIn } from '@/console/auth/sign-in'
import type { Viewer } from '@/console/auth/viewer'
import type { Visitor } from '@/console/auth/visitor'
import { assert } from '@/lib/assert'

export type Somebody = { viewer: Viewer; visitor: Visitor; email: string }

export type Office = Desk & {
  server: MailServer
  /** Somebody with a personal account, signed in. */
  somebody(email?: string): Promise<Somebody>
  /** Asks for another address, and returns it with the token of the mail to it. */
  ask(who: Somebody, email?: string): Promise<{ email: string; token: string }>
  /** Changes the address, and returns the new one with the token by which it is undone. */
  change(who: Somebody, email?: string): Promise<{ email: string; undo: string }>
  /** The token in the mail to an address that leads to `page` and comes after `known` others; waits for it. */
  tokenTo(email: string, page: 'confirm-address' | 'undo-address', known?: number): Promise<string>
  /** The kinds of mails to an address, the oldest first. */
  mailsTo(email: string): Promise<string[]>
  addressOf(userId: string): Promise<string | undefined>
}

/** An address that nobody has. */
export const freshEmail = () => `${crypto.randomUUID()}@example.test`

/** Opens it on a database of its own. */
export async function openOffice(): Promise<Office> {
  const server = await startMailServer()
  const desk = await openDesk({ smtpUrl: server.url, from: 'svc@example.test' })
  const { parts } = desk
  const { sql } = parts.database
  async function somebody(email = freshEmail()): Promise<Somebody> {
    await createUser(parts.database, { email, password: PASSWORD })
    const address = newAddress()
    const { cookies } = await signIn(parts, visitorWith([], address), { email, password: PASSWORD })
    const visitor = visitorWith(cookies, address)
    const viewer = await desk.identifyViewer(visitor.request)
    assert(viewer, 'who signs in is signed in')
    return { viewer, visitor, email }
  }
  function tokensTo(email: string, page: string): string[] {
    const link = new RegExp(`${page}#token=(\\w{32})`)
    return server.mails.flatMap(({ to, text }) => (to === email ? (link.exec(text)?.[1] ?? []) : []))
  }
  const tokenTo: Office['tokenTo'] = (email, page, known = 0) =>
    until(() => tokensTo(email, page)[known], `a mail to ${email}`)
  async function ask(who: Somebody, email = freshEmail()) {
    const known = tokensTo(email, 'confirm-address').length
    await askForAddress(parts, who.visitor, who.viewer, { email, password: PASSWORD })
    return { email, token: await tokenTo(email, 'confirm-address', known) }
  }
  return {
    ...desk,
    server,
    somebody,
    ask,
    tokenTo,
    async change(who, to) {
      const former = (await sql`SELECT email FROM users WHERE id = ${who.viewer.userId}`)[0]?.email
      const { email, token } = await ask({ ...who, viewer: { ...who.viewer, email: former } }, to)
      await confirmAddress(parts, visitorWith(), { token, password: PASSWORD })
      return { email, undo: await tokenTo(former, 'undo-address') }
    },
    async mailsTo(email) {
      const rows = await sql<{ kind: string }[]>`
        SELECT kind FROM mails WHERE recipient = ${email} AND kind <> 'new_sign_in' ORDER BY created_at, id`
      return rows.map(({ kind }) => kind)
    },
    async addressOf(userId) {
      return (await sql<{ email: string }[]>`SELECT email FROM users WHERE id = ${userId}`)[0]?.email
    },
    async close() {
      await desk.close()
      await server.stop()
    },
  }
}
