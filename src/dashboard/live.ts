/** What happens on the account while a page is open: one connection per tab, and only while the tab is looked at. */
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { accountPath, useMay } from './account'
import { askAgain, queryClient } from './query'
import { VIEWER_KEY } from './session'

/** USD as decimal texts. */
type LiveBalance = { balance: string; available: string; held: string; spentThisMonth: string }

const BALANCE_KEY = ['live', 'balance'] as const
/** The browser reconnects by itself after a break, but not after a refusal. */
const RETRY_MS = 15_000
/** Under steady traffic, pages hear of new requests this often at most. */
const USAGE_INTERVAL_MS = 3_000

const usageListeners = new Set<() => void>()
let users = 0
let source: EventSource | undefined
let retryTimer: Timer | undefined
let usageTimer: Timer | undefined
let isUsageWaiting = false

/** Receives the account's live events while the page is shown, for those who may see the balance; `onUsage` when there are new requests. */
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

/** The balance as last told; undefined before the first event, and after a refusal. */
export function useLiveBalance(): LiveBalance | undefined {
  const { data } = useQuery<LiveBalance>({ queryKey: BALANCE_KEY, enabled: false, staleTime: Number.POSITIVE_INFINITY })
  return data
}

/** Connects or disconnects, as it should be now. */
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
    // Nobody tells of its changes any more: what the pages ask for themselves is newer.
    void queryClient.resetQueries({ queryKey: BALANCE_KEY })
    retryTimer = setTimeout(follow, RETRY_MS)
  })
}

function disconnect(): void {
  clearTimeout(retryTimer)
  source?.close()
  source = undefined
}

/** Notifies at once, then waits: later events are reported together. */
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
