/** What Swagger UI leaves out for people who don't see the page, or have no mouse: names of controls, levels of headings, focus. */

type Mend = readonly [selector: string, mend: (element: HTMLElement) => void]

const MENDS: readonly Mend[] = [
  ['#servers', named(() => 'Server')],
  ['.examples-select-element', named(() => 'Example')],
  ['textarea.body-param__text', named(() => 'Request body')],
  ['.parameters-col_description :is(input, select, textarea)', named(parameterName)],
  ['.close-modal', named(() => 'Close')],
  // A name that says something else than the button shows, and one of what has no role.
  ['.auth-btn-wrapper button, div.copy-to-clipboard', (element) => element.removeAttribute('aria-label')],
  // The first heading of a page is of the first level, and none is skipped after it.
  ['.info h2.title', levelled(1)],
  ['h3.opblock-tag, section.models h4, .modal-ux-header h3', levelled(2)],
  ['.opblock-body :is(h4, h5), .auth-container h4', levelled(3)],
  ['.information-container', region('region', 'About')],
  ['.schemes-server-container', region('region', 'Server and API key')],
  ['.modal-ux', region('dialog', 'API key')],
  // A table is one, and of several landmarks none could be told from another.
  ['table[role=region]', (element) => element.removeAttribute('role')],
  // Numbers in code: the library writes their colour, which is too dark, into each element.
  ['.microlight span[style*="rgb(211, 99, 99)"]', (element) => element.style.setProperty('color', '#f59a9a')],
  // With the arrow keys, what is wider than its box can be read.
  ['pre.microlight, .highlight-code pre', (element) => element.setAttribute('tabindex', '0')],
]

/** Mends `root` now and whenever something is added to it. */
export function keepAccessible(root: Element): void {
  const mendAll = () => {
    for (const [selector, mend] of MENDS)
      for (const element of root.querySelectorAll<HTMLElement>(selector)) mend(element)
  }
  new MutationObserver(mendAll).observe(root, { childList: true, subtree: true })
  mendAll()
}

function named(nameOf: (element: Element) => string): (element: Element) => void {
  return (element) => {
    if (!element.hasAttribute('aria-label')) element.setAttribute('aria-label', nameOf(element))
  }
}

function parameterName(element: Element): string {
  return element.closest('[data-param-name]')?.getAttribute('data-param-name') ?? 'Parameter'
}

function levelled(level: number): (element: Element) => void {
  return (element) => {
    element.setAttribute('role', 'heading')
    element.setAttribute('aria-level', String(level))
  }
}

function region(role: 'region' | 'dialog', name: string): (element: Element) => void {
  return (element) => {
    element.setAttribute('role', role)
    element.setAttribute('aria-label', name)
  }
}
