/** Queries and changes of the alerts page. */
import { useQuery } from '@tanstack/react-query'
import type { AlertsBody } from '@/console/http/alerts/alert-routes'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { askAgain } from '@/dashboard/query'

export type { AlertsBody } from '@/console/http/alerts/alert-routes'
export type AlertKind = keyof AlertsBody['own']
export type ScheduledKind = keyof AlertsBody['scheduled']

const ALERTS = ['alerts'] as const

/** The account's alert settings, and the person's own choices. */
export function useAlerts() {
  return useQuery({ queryKey: ALERTS, queryFn: () => answer(accountApi().alerts.get()) })
}

/** Turns a kind of mail on or off for the person. */
export async function chooseMails(kind: AlertKind | ScheduledKind, isWanted: boolean): Promise<void> {
  await answer(accountApi().alerts.own.put({ kind, isWanted }))
  await askAgain({ queryKey: ALERTS })
}

/** The form's fields as typed; an empty threshold is off. */
export type AlertFields = { firstUsd: string; secondUsd: string }

/** Sets the account's thresholds. */
export async function setAlerts({ firstUsd, secondUsd }: AlertFields): Promise<{ isBelow: boolean }> {
  const usd = (text: string) => (text.trim() === '' ? null : text.trim())
  const { isBelow } = await answer(accountApi().alerts.patch({ firstUsd: usd(firstUsd), secondUsd: usd(secondUsd) }))
  await askAgain({ queryKey: ALERTS })
  return { isBelow }
}

/** Adds an address, which gets a confirmation link by mail. */
export async function addAlertAddress(email: string): Promise<void> {
  await answer(accountApi().alerts.addresses.post({ email }))
  await askAgain({ queryKey: ALERTS })
}

/** Mails another link to an unconfirmed address. */
export async function askAddressAgain(email: string): Promise<void> {
  await answer(accountApi().alerts.addresses['ask-again'].post({ email }))
  await askAgain({ queryKey: ALERTS })
}

/** Removes an address. */
export async function removeAlertAddress(email: string): Promise<void> {
  await answer(accountApi().alerts.addresses.remove.post({ email }))
  await askAgain({ queryKey: ALERTS })
}
