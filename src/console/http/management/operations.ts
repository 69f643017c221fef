/** The operations of the management API: dashboard routes under another path, with the scope that a key needs. */
import type { Scope } from '@/accounts/management/scopes'

/** `path` is relative to `/v1`, and to the account's prefix in the dashboard. */
export type ManagementOperation = { method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; path: string; scope: Scope }

/** No operation concerns management keys: a key cannot make one or change itself. */
export const OPERATIONS: readonly ManagementOperation[] = [
  { method: 'GET', path: '/keys', scope: 'keys:read' },
  { method: 'POST', path: '/keys', scope: 'keys:write' },
  { method: 'GET', path: '/keys/:id', scope: 'keys:read' },
  { method: 'PATCH', path: '/keys/:id', scope: 'keys:write' },
  { method: 'POST', path: '/keys/:id/rotate', scope: 'keys:write' },
  { method: 'POST', path: '/keys/:id/deactivate', scope: 'keys:write' },
  { method: 'POST', path: '/keys/:id/activate', scope: 'keys:write' },
  { method: 'POST', path: '/keys/:id/transfer', scope: 'keys:write' },
  { method: 'DELETE', path: '/keys/:id', scope: 'keys:write' },
  { method: 'GET', path: '/key-policy', scope: 'keys:read' },
  { method: 'GET', path: '/budgets', scope: 'budgets:read' },
  { method: 'GET', path: '/budgets/:scope/:scopeId', scope: 'budgets:read' },
  { method: 'PUT', path: '/budgets/:scope/:scopeId', scope: 'budgets:write' },
  { method: 'POST', path: '/budgets/:scope/:scopeId/grant', scope: 'budgets:write' },
  { method: 'GET', path: '/members', scope: 'members:read' },
  { method: 'GET', path: '/members/:userId', scope: 'members:read' },
  { method: 'GET', path: '/members/:userId/credentials', scope: 'members:read' },
  { method: 'PATCH', path: '/members/:userId', scope: 'members:write' },
  { method: 'DELETE', path: '/members/:userId', scope: 'members:write' },
  { method: 'GET', path: '/members/:userId/key-policy', scope: 'members:read' },
  { method: 'PUT', path: '/members/:userId/key-policy', scope: 'members:write' },
  { method: 'GET', path: '/member-policy', scope: 'members:read' },
  { method: 'PUT', path: '/member-policy', scope: 'members:write' },
  { method: 'GET', path: '/invitations', scope: 'members:read' },
  { method: 'POST', path: '/invitations', scope: 'members:write' },
  { method: 'POST', path: '/invitations/:invitationId/resend', scope: 'members:write' },
  { method: 'POST', path: '/invitations/:invitationId/revoke', scope: 'members:write' },
  { method: 'GET', path: '/orders', scope: 'billing:read' },
  { method: 'GET', path: '/orders/:orderId', scope: 'billing:read' },
  { method: 'GET', path: '/audit', scope: 'audit:read' },
]
