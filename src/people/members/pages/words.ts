/** Labels of members' roles, and names of countries. */
import type { AccountRole } from './members-data'

/** All roles, from most to fewest permissions. */
export const ROLES: readonly AccountRole[] = ['owner', 'admin', 'developer', 'billing', 'viewer']

export const ROLE_WORDS: Record<AccountRole, { label: string; text: string }> = {
  owner: { label: 'Owner', text: 'everything, and who else is an owner.' },
  admin: {
    label: 'Admin',
    text: 'all keys, their limits, and members but owners. Sees the balance, and does not pay.',
  },
  developer: {
    label: 'Developer',
    text: 'the playground, and own keys, whose limits may be lowered. Sees what these used, or all usage where that is allowed.',
  },
  billing: { label: 'Billing', text: 'buys credit, sees the statement and all usage, and sets budgets of keys.' },
  viewer: { label: 'Viewer', text: 'sees usage, keys and the balance, and changes nothing.' },
}

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' })

/** The English name of a two-letter country code. */
export function countryName(code: string): string {
  return COUNTRY_NAMES.of(code) ?? code
}
