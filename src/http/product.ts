/** What this program is called and which release of it runs, as its package says. */
import { name, version } from '#package.json'

export const PRODUCT = { name, version }
