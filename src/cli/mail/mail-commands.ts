/** The operator command that shows which mails wait, and which were given up and why. */
import { type Command, optional } from '@/cli/command'
import { PAGE_OPTIONS, printPage, readPage } from '@/cli/pages'
import { readChoice, readEmail } from '@/cli/values'
import { MAIL_STATES, searchMails } from '@/console/administration/mail-search'

export const MAIL_COMMANDS: readonly Command[] = [
  {
    words: 'mail list',
    help: 'lists mails of the last 30 days, newest first: what waits, what was given up, and what the server said; not what they say',
    options: {
      state: optional(MAIL_STATES.join('|'), 'only these'),
      to: optional('EMAIL', 'only those to this address'),
      ...PAGE_OPTIONS,
    },
    prepare(values) {
      const state = readChoice(values, 'state', MAIL_STATES)
      const search = {
        ...readPage(values),
        ...(state !== undefined && { state }),
        ...(values.to !== undefined && { to: readEmail(values, 'to') }),
      }
      return async ({ database }) => printPage('mails', await searchMails(database, search), (mail) => mail)
    },
  },
]
