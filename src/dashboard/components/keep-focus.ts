const ROW = 'li, tr'
const FOCUSABLE = ':is(a[href], button, input, select, textarea, [tabindex="0"]):not(:disabled, [type="hidden"])'
/** Selects dialogs and menus, which return the focus themselves to the element that opened them. */
const ABOVE_THE_PAGE = '[data-portal]'

/** The last focused element and its surroundings, from the inside out. */
type Place = { element: HTMLElement; around: Element[]; neighbours: Element[]; isWaiting: boolean }

/**
 * Keeps the focus in `main` if the focused button disappears; otherwise the keyboard would start at the top. Returns a function that ends
 * this.
 */
export function keepFocusIn(main: HTMLElement): () => void {
  let last: Place | undefined
  function remember({ target }: FocusEvent): void {
    if (!(target instanceof HTMLElement) || target.closest(ABOVE_THE_PAGE)) return
    last = main.contains(target) ? placeOf(target, main) : undefined
  }
  const observer = new MutationObserver(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (!last || !isLost || document.querySelector('[role="dialog"]')) return
    const { element } = last
    // This button is disabled only while its request runs, and gets the focus again afterwards.
    if (element.matches(':disabled[data-loading]')) last.isWaiting = true
    else if (element.isConnected && !element.matches(':disabled')) {
      if (last.isWaiting) element.focus()
    }
    // A page that is still loading has no heading yet: then nothing gets the focus.
    else besideOf(last, main)?.focus()
  })
  document.addEventListener('focusin', remember)
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
  return () => {
    document.removeEventListener('focusin', remember)
    observer.disconnect()
  }
}

function placeOf(element: HTMLElement, main: Element): Place {
  const around: Element[] = []
  for (let one = element.parentElement; one && one !== main; one = one.parentElement) around.push(one)
  const row = element.closest(ROW)
  const rows = row ? [row.nextElementSibling, row.previousElementSibling] : []
  return { element, around, neighbours: rows.filter((one) => one !== null), isWaiting: false }
}

function besideOf({ around, neighbours }: Place, main: Element): HTMLElement | undefined {
  const inRow = neighbours.filter((row) => row.isConnected).map((row) => visibleIn(row, FOCUSABLE))
  return inRow.find((one) => one !== undefined) ?? headingOf(around, main)
}

/** The heading of the innermost part that still exists, made focusable. */
function headingOf(around: readonly Element[], main: Element): HTMLElement | undefined {
  const parts = [...around.filter((part) => part.isConnected && part.matches('section')), main]
  const heading = parts.map((part) => visibleIn(part, 'h1, h2')).find((one) => one !== undefined)
  heading?.setAttribute('tabindex', '-1')
  return heading
}

/** The first visible match: tables have one control for each screen width. */
function visibleIn(part: Element, selector: string): HTMLElement | undefined {
  return [...part.querySelectorAll<HTMLElement>(selector)].find((one) => one.checkVisibility())
}
