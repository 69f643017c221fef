/** The permissions of each role in an account. Routes, pages and documents all use this table. */
import type { AccountRole } from '@/db/auth-schema'
import { type ChosenSettings, settingsOf } from '@/people/settings/fields'

/** Each permission with its roles. No other code checks roles. */
export const PERMISSIONS = {
  /** See usage, failed requests and keys. Without `usage.readAll` only one's own, unless the account shows developers all usage. */
  'usage.read': ['owner', 'admin', 'developer', 'billing', 'viewer'],
  'usage.readAll': ['owner', 'admin', 'billing', 'viewer'],
  /** Create keys, deactivate and delete the keys that one sees, and use the playground. */
  'keys.use': ['owner', 'admin', 'developer'],
  /** Switch keys off. Without `keys.use`, only one's own keys that stayed after a change of role. */
  'keys.switchOff': ['owner', 'admin', 'developer', 'billing', 'viewer'],
  /** Change a key. Each field needs `keys.use`, `limits.raise` or `budgets.change` too. */
  'keys.change': ['owner', 'admin', 'developer', 'billing'],
  /** Raise the limits and budgets of keys. */
  'limits.raise': ['owner', 'admin'],
  'budgets.change': ['owner', 'admin', 'billing'],
  /** See balance, orders and statement. */
  'billing.read': ['owner', 'admin', 'billing', 'viewer'],
  'billing.pay': ['owner', 'billing'],
  /** Move credit to another account in which one has the same permission. */
  'credit.move': ['owner'],
  /** Make, list and revoke management keys; read the account's audit log. */
  'managementKeys.change': ['owner', 'admin'],
  'audit.read': ['owner', 'admin'],
  /** Set the balance thresholds and the recipients of alerts. */
  'alerts.change': ['owner', 'billing'],
  'members.read': ['owner', 'admin', 'developer', 'billing', 'viewer'],
  'members.change': ['owner', 'admin'],
  /** Set how long answers are stored, and turn the account into an organisation. */
  'account.change': ['owner'],
} as const satisfies Record<string, readonly AccountRole[]>

export type Permission = keyof typeof PERMISSIONS

/** Whether this role has the permission. */
export function mayDo(role: AccountRole, permission: Permission): boolean {
  return (PERMISSIONS[permission] as readonly AccountRole[]).includes(role)
}

/** Whether this role sees all usage and failed requests in an account with these settings. */
export function seesAllUsage(role: AccountRole, chosen: ChosenSettings): boolean {
  return settingsOf(chosen).developersSeeAllUsage || mayDo(role, 'usage.readAll')
}

/** All permissions of this role. */
export function permissionsOf(role: AccountRole): Permission[] {
  return (Object.keys(PERMISSIONS) as Permission[]).filter((permission) => mayDo(role, permission))
}

const NEEDED = {
  api_key: 'keys.use',
  management_key: 'managementKeys.change',
  invitation: 'members.change',
} as const satisfies Record<string, Permission>

/** Kinds of credentials and invitations that work without their maker, but need a permission of the maker. */
export type HeldKind = keyof typeof NEEDED

/** Whether this role may have such a credential; a non-member may not. */
export function mayHold(role: AccountRole | undefined, kind: HeldKind): boolean {
  return role !== undefined && mayDo(role, NEEDED[kind])
}

const RANK: Record<AccountRole, number> = { owner: 3, admin: 2, developer: 1, billing: 1, viewer: 0 }

/** Whether the first role is below the second. Developer and billing are on the same level. */
export function isBelow(role: AccountRole, other: AccountRole): boolean {
  return RANK[role] < RANK[other]
}

/** Whether somebody with the role `own` may give or take `role`: only roles not above their own. */
export function mayGive(own: AccountRole | undefined, role: AccountRole): boolean {
  return own !== undefined && mayDo(own, 'members.change') && RANK[role] <= RANK[own]
}
