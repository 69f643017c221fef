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
export type AlertFields = { firstUsd: string; secondUsd: string }

/** Sets the thresholds of the account. */
export async function setAlerts({ firstUsd, secondUsd }: AlertFields): Promise<{ isBelow: boolean }> {
  const usd = (text: string) => (text.trim() === '' ? null : text.trim())
  const { isBelow } = await answer(accountApi().alerts.patch({ firstUsd: usd(firstUsd), secondUsd: usd(secondUsd) }))
  await askAgain({ queryKey: ALERTS })
  return { isBelow }
}

/** Adds an address, which is mailed a link to confirm. */
export async function addAlertAddress(email: string): Promise<void> {
  await answer(accountApi().alerts.addresses.post({ email }))
  await askAgain({ queryKey: ALERTS })
}

/** Mails another link to an address that waits. */
export async function askAddressAgain(email: string): Promise<void> {
  await answer(accountApi().alerts.addresses['ask-again'].post({ email }))
  await askAgain({ queryKey: ALERTS })
}

/** Takes an address away. */
export async function removeAlertAddress(email: string): Promise<void> {
  await answer(accountApi().alerts.addresses.remove.post({ email }))
  await askAgain({ queryKey: ALERTS })
}
