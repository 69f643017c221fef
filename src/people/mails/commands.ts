/** Operator commands that list waiting and failed mails, with the reason. */
import { MAIL_KINDS } from '@/accounts/mails/templates'
import { type Command, optional } from '@/cli/command'
import { PAGE_OPTIONS, printPage, readPage } from '@/cli/pages'
import { readChoice, readEmail } from '@/cli/values'
import { MAIL_STATES } from '@/db/mail-schema'
import { countWaiting, searchMails } from './mail-search'

export const MAIL_COMMANDS: readonly Command[] = [
  {
    words: 'mail list',
    help: 'lists mails of the last 30 days, newest first, with state and the server’s response, but without content',
    options: {
      state: optional(MAIL_STATES.join('|'), 'only these'),
      kind: optional('KIND', 'only this kind'),
      to: optional('EMAIL', 'only those to this address'),
      ...PAGE_OPTIONS,
    },
    prepare(values) {
      const state = readChoice(values, 'state', MAIL_STATES)
      const search = {
        ...readPage(values),
        ...(state !== undefined && { state }),
        ...(values.kind !== undefined && { kind: readChoice(values, 'kind', MAIL_KINDS) }),
        ...(values.to !== undefined && { to: readEmail(values, 'to') }),
      }
      return async ({ database }) => printPage('mails', await searchMails(database, search), (mail) => mail)
    },
  },
  {
    words: 'mail waiting',
    help: 'counts waiting mails by kind, with the age of the oldest in seconds; `held` ones wait for the next hour of their account or person',
    options: {},
    prepare:
      () =>
      async ({ database }) => ({ output: { kinds: await countWaiting(database) } }),
  },
]
