/** The browser in which the dashboard is tested: found on the machine, or fetched where that needs no question. */
import { canInstall, installPackage } from './debian'

/** What Debian, Ubuntu and the vendor call it. */
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const PACKAGE = 'chromium'

/** Where Chromium is; undefined where there is none on the PATH. */
export function findChromium(): string | undefined {
  for (const name of PROGRAMS) {
    const found = Bun.which(name)
    if (found) return found
  }
  return undefined
}

/** What to say where the browser is missing. */
export const CHROMIUM_ADVICE = `The dashboard is tested in Chromium, which is not on the PATH (${PROGRAMS.join(', ')}): install it, e.g. apt-get install ${PACKAGE}`

/** Installs Debian's package where the machine has none and may take one. Says what it does, or what is missing. */
export async function prepareChromium(say: (line: string) => void): Promise<void> {
  if (findChromium() !== undefined) return
  if (!canInstall()) return say(CHROMIUM_ADVICE)
  say('Installing Chromium, in which the dashboard is tested.')
  await installPackage(PACKAGE)
  if (findChromium() === undefined) say(CHROMIUM_ADVICE)
}
