/** Live events of the account: one connection per tab, only while the tab is visible. */
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useMay } from './account'
import { askAgain, queryClient } from './query'
import { VIEWER_KEY } from './session'
import { accountPath } from './shown-account'

type LiveBalance = { balance: string; available: string; held: string; spentThisMonth: string }

const BALANCE_KEY = ['live', 'balance'] as const
/** Wait before reconnecting after a refusal. After an interruption, the browser reconnects by itself. */
const RETRY_MS = 15_000
/** Minimum interval between two calls of the usage listeners, if events arrive more often. */
const USAGE_INTERVAL_MS = 3_000

const usageListeners = new Set<() => void>()
let users = 0
let source: EventSource | undefined
let retryTimer: Timer | undefined
let usageTimer: Timer | undefined
let isUsageWaiting = false

/** Receives live events while the component is mounted, if the person may see the balance. New requests call `onUsage`. */
export function useLiveEvents(onUsage?: () => void): void {
  const isAllowed = useMay()('billing.read')
  useEffect(() => {
    if (!isAllowed) return
    users += 1
    if (users === 1) document.addEventListener('visibilitychange', follow)
    follow()
    return () => {
      users -= 1
      if (users === 0) document.removeEventListener('visibilitychange', follow)
      follow()
    }
  }, [isAllowed])
  useEffect(() => {
    if (!onUsage) return
    usageListeners.add(onUsage)
    return () => void usageListeners.delete(onUsage)
  }, [onUsage])
}

/** The last balance received; undefined before the first event and after a refusal. */
export function useLiveBalance(): LiveBalance | undefined {
  const { data } = useQuery<LiveBalance>({ queryKey: BALANCE_KEY, enabled: false, staleTime: Number.POSITIVE_INFINITY })
  return data
}

/** Connects if the tab is visible and a component needs events, else disconnects. */
function follow(): void {
  const isWanted = users > 0 && document.visibilityState === 'visible'
  if (isWanted && !source) connect()
  if (!isWanted) disconnect()
}

function connect(): void {
  clearTimeout(retryTimer)
  const opened = new EventSource(accountPath('events'))
  source = opened
  opened.addEventListener('balance', (event) => {
    queryClient.setQueryData<LiveBalance>(BALANCE_KEY, JSON.parse(event.data))
  })
  opened.addEventListener('usage', announceUsage)
  opened.addEventListener('signed-out', () => {
    disconnect()
    void askAgain({ queryKey: VIEWER_KEY })
  })
  opened.addEventListener('error', () => {
    if (opened.readyState !== EventSource.CLOSED) return
    disconnect()
    // No more updates will come, so pages must query the balance themselves.
    void queryClient.resetQueries({ queryKey: BALANCE_KEY })
    retryTimer = setTimeout(follow, RETRY_MS)
  })
}

function disconnect(): void {
  clearTimeout(retryTimer)
  source?.close()
  source = undefined
}

function announceUsage(): void {
  if (usageTimer !== undefined) {
    isUsageWaiting = true
    return
  }
  for (const listener of usageListeners) listener()
  usageTimer = setTimeout(() => {
    usageTimer = undefined
    if (!isUsageWaiting) return
    isUsageWaiting = false
    announceUsage()
  }, USAGE_INTERVAL_MS)
}
