/** The name and version of this program, from its package. */
import { name, version } from '#package.json'

export const PRODUCT = { name, version }
