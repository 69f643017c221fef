/** Makes the Escape key close only the front dialog, not those behind it. */

/** Functions that close the dialogs in front of others; the last one is frontmost. */
const inFront: (() => void)[] = []

/** Listens for Escape. Call it before anything is rendered: listeners are called in order of registration. */
export function hearEscapeFirst(): void {
  const leave = (event: KeyboardEvent) => {
    const close = inFront.at(-1)
    if (event.key !== 'Escape' || !close) return
    event.stopImmediatePropagation()
    close()
  }
  window.addEventListener('keydown', leave, { capture: true })
}

/** Directs Escape to a dialog in front of others. Returns a function that ends that. */
export function takeEscape(close: () => void): () => void {
  inFront.push(close)
  return () => void inFront.splice(inFront.indexOf(close), 1)
}
