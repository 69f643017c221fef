/** Which version of a Python package its list pins. */
import { assert } from '@/lib/assert'
import { type PackageList, pinsOf } from './environment'

/** The version; it is a mistake to ask for a package that the list lacks. What stands behind a comma is how the package is used. */
export function versionIn(list: PackageList, name: string): string {
  const version = new RegExp(`^${name.split(',')[0]}==(\\S+)`, 'm').exec(pinsOf(list))?.[1]
  assert(version, `${list}.txt pins ${name}`)
  return version
}
