/** Asks before a person leaves a form that they have changed: by a link, by the browser's buttons, or with the tab. */
import { useEffect } from 'react'

/** Of each form on the page: whether leaving it would lose something. */
const forms = new Set<() => boolean>()

/** Has `wouldLose` asked before its page is left. */
export function useUnsaved(wouldLose: () => boolean): void {
  useEffect(() => {
    forms.add(wouldLose)
    return () => void forms.delete(wouldLose)
  }, [wouldLose])
}

/** Shows the question. `leave` goes where the person wanted to go. */
type Ask = (leave: () => Promise<void>) => void

/** Asks while the component that calls it is shown. A browser without the Navigation API asks for the tab alone. */
export function useLeaveGuard(ask: Ask): void {
  useEffect(() => {
    const navigation = 'navigation' in window ? window.navigation : undefined
    const onNavigate = (event: NavigateEvent) => askFirst(event, ask)
    window.addEventListener('beforeunload', onUnload)
    navigation?.addEventListener('navigate', onNavigate)
    return () => {
      window.removeEventListener('beforeunload', onUnload)
      navigation?.removeEventListener('navigate', onNavigate)
    }
  }, [ask])
}

const wouldLoseAny = () => [...forms].some((wouldLose) => wouldLose())

function onUnload(event: BeforeUnloadEvent): void {
  if (wouldLoseAny()) event.preventDefault()
}

function askFirst(event: NavigateEvent, ask: Ask): void {
  const { destination, navigationType } = event
  const target = new URL(destination.url)
  // Filters and tabs change the query alone. Another document is asked about by the browser itself.
  const isSamePage = target.origin === location.origin && target.pathname === location.pathname
  if (!event.cancelable || !destination.sameDocument || isSamePage || !wouldLoseAny()) return
  event.preventDefault()
  ask(async () => {
    forms.clear()
    if (navigationType === 'traverse') await window.navigation.traverseTo(destination.key).committed
    else history.pushState(null, '', target)
  })
}
