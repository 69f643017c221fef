/** Alerts as the page asks for them and changes them. */
import { useQuery } from '@tanstack/react-query'
import type { AlertsBody } from '@/console/http/alerts/alert-routes'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { askAgain } from '@/dashboard/query'

export type { AlertsBody } from '@/console/http/alerts/alert-routes'
export type AlertKind = keyof AlertsBody['own']
export type ScheduledKind = keyof AlertsBody['scheduled']

const ALERTS = ['alerts'] as const

/** What the account is alerted of, and which of it the person gets. */
export function useAlerts() {
  return useQuery({ queryKey: ALERTS, queryFn: () => answer(accountApi().alerts.get()) })
}

/** Turns a kind off or on for the person. */
export async function chooseMails(kind: AlertKind | ScheduledKind, isWanted: boolean): Promise<void> {
  await answer(accountApi().alerts.own.put({ kind, isWanted }))
  await askAgain({ queryKey: ALERTS })
}

/** The fields of the form as they are typed; an empty threshold is none. */
export type AlertFields = { firstUsd: string; secondUsd: string; addresses: string }

/** Sets thresholds and addresses of the account. */
export async function setAlerts({ firstUsd, secondUsd, addresses }: AlertFields): Promise<void> {
  const lines = addresses.split(/[\s,]+/).filter((line) => line !== '')
  const usd = (text: string) => (text.trim() === '' ? null : text.trim())
  const changed = { firstUsd: usd(firstUsd), secondUsd: usd(secondUsd), addresses: lines }
  await answer(accountApi().alerts.patch(changed))
  await askAgain({ queryKey: ALERTS })
}
