/** The name and version of this program, from package.json. */
import { name, version } from '#package.json'

export const PRODUCT = { name, version }
