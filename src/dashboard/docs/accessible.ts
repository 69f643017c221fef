type Mend = readonly [selector: string, mend: (element: HTMLElement) => void]

const MENDS: readonly Mend[] = [
  ['#servers', named(() => 'Server')],
  ['.examples-select-element', named(() => 'Example')],
  ['textarea.body-param__text', named(() => 'Request body')],
  ['.parameters-col_description :is(input, select, textarea)', named(parameterName)],
  ['.close-modal', named(() => 'Close')],
  ['.auth-btn-wrapper button, div.copy-to-clipboard', (element) => element.removeAttribute('aria-label')],
  // Headings start at level one, without gaps.
  ['.info h2.title', levelled(1)],
  ['h3.opblock-tag, section.models h4, .modal-ux-header h3', levelled(2)],
  ['.opblock-body :is(h4, h5), .auth-container h4', levelled(3)],
  ['.information-container', region('region', 'About')],
  ['.schemes-server-container', region('region', 'Server and API key')],
  ['.modal-ux', region('dialog', 'API key')],
  // Swagger UI gives tables the role of a landmark. Without it, they are read as tables again.
  ['table[role=region]', (element) => element.removeAttribute('role')],
  // The library's inline colour for numbers in code has too little contrast.
  ['.microlight span[style*="rgb(211, 99, 99)"]', (element) => element.style.setProperty('color', '#f59a9a')],
  // Makes wide code scrollable with the arrow keys.
  ['pre.microlight, .highlight-code pre', (element) => element.setAttribute('tabindex', '0')],
]

/** Fixes Swagger UI's accessibility below `root` (names, heading levels, focus), now and whenever elements are added. */
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
