/** What each role may do in an account: the one table that routes, pages and documents go by. */
import type { AccountRole } from '@/db/auth-schema'

/** Each permission, and who has it. Roles are asked for nowhere else. */
export const PERMISSIONS = {
  /** See usage, failed requests and keys: all of the account's, or only one's own where `usage.readAll` is missing. An account may show its developers all usage. */
  'usage.read': ['owner', 'admin', 'developer', 'billing', 'viewer'],
  'usage.readAll': ['owner', 'admin', 'billing', 'viewer'],
  /** Make keys, switch them off and on, delete them (of those that one sees), and use the playground. */
  'keys.use': ['owner', 'admin', 'developer'],
  /** Switch keys off: without `keys.use`, one's own that were kept as one got another role. */
  'keys.switchOff': ['owner', 'admin', 'developer', 'billing', 'viewer'],
  /** Change something of a key: what, `keys.use`, `limits.raise` and `budgets.change` say. */
  'keys.change': ['owner', 'admin', 'developer', 'billing'],
  /** Raise what keys may do, and what they may spend. */
  'limits.raise': ['owner', 'admin'],
  'budgets.change': ['owner', 'admin', 'billing'],
  /** See balance, orders and statement. */
  'billing.read': ['owner', 'admin', 'billing', 'viewer'],
  'billing.pay': ['owner', 'billing'],
  /** Move credit to another account of which one may do the same. */
  'credit.move': ['owner'],
  /** Make, list and revoke management keys; read what was changed in the account. */
  'managementKeys.change': ['owner', 'admin'],
  'audit.read': ['owner', 'admin'],
  /** Set below which credit the account is alerted, and who hears of it. */
  'alerts.change': ['owner', 'billing'],
  'members.read': ['owner', 'admin', 'developer', 'billing', 'viewer'],
  'members.change': ['owner', 'admin'],
  /** How long answers are kept, and what the account is. */
  'account.change': ['owner'],
} as const satisfies Record<string, readonly AccountRole[]>

export type Permission = keyof typeof PERMISSIONS

/** Whether somebody of this role may do that. */
export function mayDo(role: AccountRole, permission: Permission): boolean {
  return (PERMISSIONS[permission] as readonly AccountRole[]).includes(role)
}

/** Whether somebody of this role sees all usage and failed requests of an account that lets its developers do so, or doesn't. */
export function seesAllUsage(role: AccountRole, developersSeeAllUsage: boolean): boolean {
  return developersSeeAllUsage || mayDo(role, 'usage.readAll')
}

/** Everything that somebody of this role may do. */
export function permissionsOf(role: AccountRole): Permission[] {
  return (Object.keys(PERMISSIONS) as Permission[]).filter((permission) => mayDo(role, permission))
}

const RANK: Record<AccountRole, number> = { owner: 3, admin: 2, developer: 1, billing: 1, viewer: 0 }

/** Whether the second role is above the first: developer and billing are beside each other. */
export function isBelow(role: AccountRole, other: AccountRole): boolean {
  return RANK[role] < RANK[other]
}

/** Whether somebody of the role `own` may make others what they are not above, and take that from them. */
export function mayGive(own: AccountRole | undefined, role: AccountRole): boolean {
  return own !== undefined && mayDo(own, 'members.change') && RANK[role] <= RANK[own]
}
