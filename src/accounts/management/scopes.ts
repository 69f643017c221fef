/** The scopes of a management key. None is given by default, and none allows calling a model or making management keys. */

export const SCOPES = [
  'keys:read',
  'keys:write',
  'members:read',
  'members:write',
  'budgets:read',
  'budgets:write',
  'usage:read',
  'billing:read',
  'audit:read',
] as const

export type Scope = (typeof SCOPES)[number]

/** Whether `scopes` include `needed`; a write scope includes reading. */
export function holds(scopes: readonly string[], needed: Scope): boolean {
  return scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ':write'))
}
