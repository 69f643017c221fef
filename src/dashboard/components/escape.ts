/** Makes the Escape key close only the front dialog, not those behind it. */

/** Functions that close the open dialogs, in the order of opening. The last one closes the front dialog. */
const inFront: (() => void)[] = []

/** Listens for Escape. Must be called before rendering: the first registered listener is called first. */
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
