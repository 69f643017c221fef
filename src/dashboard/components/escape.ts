/** Makes the Escape key close only the front dialog, not those behind it. */

/** Functions that close the dialogs, in the order of opening; the last one closes the front dialog. */
const inFront: (() => void)[] = []

/** Listens for Escape. Call it before rendering, since listeners are called in order of registration. */
export function hearEscapeFirst(): void {
  const leave = (event: KeyboardEvent) => {
    const close = inFront.at(-1)
    if (event.key !== 'Escape' || !close) return
    event.stopImmediatePropagation()
    close()
  }
  window.addEventListener('keydown', leave, { capture: true })
}

/** Lets Escape close a dialog in front of others. Returns a function that ends this. */
export function takeEscape(close: () => void): () => void {
  inFront.push(close)
  return () => void inFront.splice(inFront.indexOf(close), 1)
}
