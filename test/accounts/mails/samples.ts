/** One mail of each kind, as it might be. */
import type { NewMail } from '@/accounts/mails/templates'

const AT = '2026-03-01T10:20:30.000Z'
const WHERE = { address: '203.0.113.7', at: AT }
const CHANGED = { accountName: 'Engines Ltd', by: 'ada@example.test' }

/** Keyed by kind, so that a kind without a sample doesn't compile. */
const BY_KIND: { [Kind in NewMail['kind']]: Extract<NewMail, { kind: Kind }>['facts'] } = {
  verify_email: {},
  reset_password: {},
  already_registered: {},
  invitation: { accountName: 'Engines Ltd', invitedBy: 'Ada Lovelace', role: 'developer', days: 7 },
  password_changed: WHERE,
  second_step_changed: { what: 'disabled', ...WHERE },
  new_sign_in: { ...WHERE, browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  role_changed: { ...CHANGED, before: 'developer', after: 'admin' },
  member_added: { ...CHANGED, role: 'viewer' },
  member_removed: CHANGED,
  owner_added: { ...CHANGED, owner: 'grace@example.test' },
  addresses_changed: { ...CHANGED, after: '203.0.113.0/24, 2001:db8::/32' },
  idle_reversal: { reversal: 'chargeback', amount: '12.50', currency: 'EUR', undoes: 'tr_7', hasOrder: 0 },
}

export const SAMPLES = Object.entries(BY_KIND).map(([kind, facts]) => ({ kind, facts }) as NewMail)
