/** Warns before a changed form is left: by a link, by the browser's buttons, or by closing the tab. */
import { useEffect } from 'react'

/** One function for each form on the page: it returns whether changes would be lost. */
const forms = new Set<() => boolean>()

/** Registers a form's `wouldLose`, which is called before the page is left. */
export function useUnsaved(wouldLose: () => boolean): void {
  useEffect(() => {
    forms.add(wouldLose)
    return () => void forms.delete(wouldLose)
  }, [wouldLose])
}

/** Shows the warning. `leave` continues to the chosen page. */
type Ask = (leave: () => Promise<void>) => void

/** Warns while the calling component is shown. Browsers without the Navigation API only warn when the tab closes. */
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
  // Changes of filters and tabs only change the query. If another document is opened, the browser itself warns.
  const isSamePage = target.origin === location.origin && target.pathname === location.pathname
  if (!event.cancelable || !destination.sameDocument || isSamePage || !wouldLoseAny()) return
  event.preventDefault()
  ask(async () => {
    forms.clear()
    if (navigationType === 'traverse') await window.navigation.traverseTo(destination.key).committed
    else history.pushState(null, '', target)
  })
}
