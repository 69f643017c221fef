/** One mail of each kind, as it might be. */
import type { NewMail } from '@/accounts/mails/templates'

const AT = '2026-03-01T10:20:30.000Z'
const WHERE = { address: '203.0.113.7', at: AT }
const CHANGED = { accountName: 'Engines Ltd', by: 'ada@example.test' }

const OF_ACCOUNT = { accountId: 'acct_1', accountName: 'Engines Ltd' }

const PERIOD = { ...OF_ACCOUNT, from: '2026-03-02', to: '2026-03-08' }
const USED: Pick<
  Extract<NewMail, { kind: 'digest_weekly' }>['facts'],
  'cost' | 'requests' | 'models' | 'keys' | 'members' | 'credit' | 'lastsUntil'
> = {
  cost: '41.70 USD (week before: 38.02 USD, +10 %)',
  requests: '12,403 (week before: 13,020, −5 %)',
  models: [
    ['svc/alpha-with-a-name-that-is-long-enough-to-need-two-lines', '30.00 USD'],
    ['svc/beta', '11.50 USD'],
    ['All others', '0.20 USD'],
  ],
  keys: [['The key of our search, indexing and everything else that runs at night', '41.70 USD']],
  members: [
    ['Ada Lovelace', '40.00 USD'],
    ['Charles Babbage', '1.70 USD'],
  ],
  credit: '120.00 USD',
  lastsUntil: '2026-03-29',
}

/** Keyed by kind, so that a kind without a sample doesn't compile. */
const BY_KIND: { [Kind in NewMail['kind']]: Extract<NewMail, { kind: Kind }>['facts'] } = {
  verify_email: {},
  reset_password: {},
  already_registered: {},
  invitation: { accountName: 'Engines Ltd', invitedBy: 'Ada Lovelace', role: 'developer', days: 7 },
  confirm_alerts: { accountName: 'Engines Ltd', askedBy: 'Ada Lovelace', days: 7 },
  password_changed: WHERE,
  second_step_changed: { what: 'disabled', ...WHERE },
  new_sign_in: { ...WHERE, browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  role_changed: { ...CHANGED, before: 'developer', after: 'admin' },
  member_added: { ...CHANGED, role: 'viewer' },
  member_removed: CHANGED,
  owner_added: { ...CHANGED, owner: 'grace@example.test' },
  addresses_changed: { ...CHANGED, after: '203.0.113.0/24, 2001:db8::/32' },
  key_addresses_changed: { ...CHANGED, key: 'ci', after: 'everywhere' },
  management_key_made: { ...CHANGED, name: 'terraform', scopes: 'keys:read, keys:write' },
  key_leaked: { accountName: 'Engines Ltd', key: 'ci', days: 7 },
  balance_low: { ...OF_ACCOUNT, balance: '8.50 USD', threshold: '10.00 USD', daysLeft: 3 },
  balance_empty: OF_ACCOUNT,
  budget_reached: {
    ...{ ...OF_ACCOUNT, scope: 'member', scopeName: 'Charles Babbage', window: 'week', percent: 80 },
    ...{ spent: '40.00 USD', limit: '50.00 USD', endsAt: '2026-03-09T00:00:00.000Z' },
  },
  spend_unusual: { ...OF_ACCOUNT, spent: '91.20 USD', median: '12.00 USD' },
  former_key_ends: {
    ...{ ...OF_ACCOUNT, keyId: 'key_1', keyName: 'ci', lastFour: 'x7Qp' },
    ...{ endsAt: '2026-03-09T10:20:00.000Z', lastUsedAt: '2026-03-09T04:05:00.000Z' },
  },
  key_expires: { ...OF_ACCOUNT, keyId: 'key_1', keyName: 'ci', days: 7, endsAt: '2026-03-09T10:20:00.000Z' },
  several_alerts: {
    ...OF_ACCOUNT,
    alerts: [
      { kind: 'balance_low', facts: { ...OF_ACCOUNT, balance: '8.50 USD', threshold: '10.00 USD', daysLeft: 3 } },
      { kind: 'key_expires', facts: { ...OF_ACCOUNT, keyId: 'key_1', keyName: 'ci', days: 1, endsAt: AT } },
    ],
  },
  digest_weekly: { ...PERIOD, isOwn: 0, ...USED },
  digest_monthly: { ...PERIOD, isOwn: 1, ...USED, members: [], credit: '', lastsUntil: '' },
  export_daily: { ...PERIOD, to: PERIOD.from, isOwn: 0 },
  export_weekly: { ...PERIOD, isOwn: 1 },
  export_monthly: { ...PERIOD, isOwn: 0 },
  confirm_address: {},
  address_in_use: {},
  address_changed: { ...WHERE, after: 'a***@example.test', undoDays: 7 },
  address_put_back: WHERE,
  top_up_needs_confirmation: { ...OF_ACCOUNT, orderId: 'order_1', reference: 'SVC-7K3M-9QXP', amount: '50 USD' },
  top_up_stopped: { ...OF_ACCOUNT, reason: 'declined' },
  idle_reversal: { reversal: 'chargeback', amount: '12.50', currency: 'EUR', undoes: 'tr_7', hasOrder: 0 },
}

export const SAMPLES = Object.entries(BY_KIND).map(([kind, facts]) => ({ kind, facts }) as NewMail)
