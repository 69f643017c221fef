/** The browser in which the dashboard is tested, as the machine has it. */

/** What Debian, Ubuntu and the vendor call it. First Debian's without windows, which takes two thirds of the processor time. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const PACKAGE = 'chromium'

/** Where Chromium is; undefined if there is none on the PATH. */
export function findChromium(): string | undefined {
  for (const name of PROGRAMS) {
    const found = Bun.which(name)
    if (found) return found
  }
  return undefined
}

/** What to say where the browser is missing. */
export const CHROMIUM_ADVICE = `The dashboard is tested in Chromium, which is not on the PATH (${PROGRAMS.join(', ')}): install it, e.g. apt-get install ${PACKAGE}`
