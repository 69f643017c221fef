/** Which dialog the Escape key closes: the one in front, and not the one behind it as well. */

/** Closers of the dialogs that lie in front of others, the last one foremost. */
const inFront: (() => void)[] = []

/** Listens for Escape. Call it before anything is drawn: the first listener is asked first. */
export function hearEscapeFirst(): void {
  const leave = (event: KeyboardEvent) => {
    const close = inFront.at(-1)
    if (event.key !== 'Escape' || !close) return
    event.stopImmediatePropagation()
    close()
  }
  window.addEventListener('keydown', leave, { capture: true })
}

/** Gives Escape to a dialog that opens in front of others. Returns the end of that. */
export function takeEscape(close: () => void): () => void {
  inFront.push(close)
  return () => void inFront.splice(inFront.indexOf(close), 1)
}
