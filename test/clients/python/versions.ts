/** Which version of a Python package its list pins. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '@/lib/assert'
import type { PackageList } from './environment'

/** The version; it is a mistake to ask for a package that the list lacks. What stands behind a comma is how the package is used. */
export function versionIn(list: PackageList, name: string): string {
  const text = readFileSync(join(import.meta.dir, `${list}.txt`), 'utf8')
  const version = new RegExp(`^${name.split(',')[0]}==(\\S+)`, 'm').exec(text)?.[1]
  assert(version, `${list}.txt pins ${name}`)
  return version
}
