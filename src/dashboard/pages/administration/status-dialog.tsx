/** The dialog in which an administrator suspends an account or activates it again. */
import { answer, api } from '@/dashboard/client'
import type { AccountView } from './admin-data'
import { openReasonDialog } from './reason-dialog'

/** Opens the dialog that fits the account's present status. */
export function openStatusDialog({ accountId, name, status }: AccountView): void {
  const isActive = status === 'active'
  openReasonDialog({
    title: isActive ? 'Suspend account' : 'Activate account',
    body: isActive
      ? `From now on every request of ${name} is refused, on every gateway. Answers that have begun are finished.`
      : `The requests of ${name} are served again.`,
    action: isActive ? 'Suspend account' : 'Activate account',
    label: 'Reason',
    isDestructive: isActive,
    done: isActive ? 'The account is suspended.' : 'The account is active.',
    run: (reason) =>
      answer(api.admin.accounts({ accountId }).status.post({ status: isActive ? 'suspended' : 'active', reason })),
  })
}
