/** Every package that the lockfile pins, with what its own folder says of its licence and its install scripts. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One pinned package. `alias`: under which name it is installed, where that is not its own. */
export type LockedPackage = {
  name: string
  version: string
  /** SHA-512 of the archive, in hexadecimal. */
  sha512: string
  /** As the package says it; undefined if it is not installed on this machine (another platform's programs). */
  licence: string | undefined
  /** The install scripts that it asks for, trusted or not. */
  installScripts: string[]
  /** Its place below node_modules. */
  path: string
}

export const ROOT = join(import.meta.dir, '..', '..')
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

type Lock = { packages: Record<string, [string, string, object, string]> }
type Manifest = {
  license?: string | { type: string }
  licenses?: { type: string }[]
  scripts?: Record<string, string>
}

/** All packages of bun.lock, by name and version. */
export async function readPackages(): Promise<LockedPackage[]> {
  const lock = Bun.JSONC.parse(await Bun.file(join(ROOT, 'bun.lock')).text()) as Lock
  const found = await Promise.all(Object.entries(lock.packages).map(([key, entry]) => readPackage(key, entry)))
  const byId = new Map(found.map((each) => [`${each.name}@${each.version}`, each]))
  return [...byId.values()].sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
}

async function readPackage(key: string, [id, , , integrity]: Lock['packages'][string]): Promise<LockedPackage> {
  const at = id.lastIndexOf('@')
  const path = pathOf(key)
  const file = join(ROOT, path, 'package.json')
  const manifest: Manifest | undefined = existsSync(file) ? await Bun.file(file).json() : undefined
  return {
    name: id.slice(0, at),
    version: id.slice(at + 1),
    sha512: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
    licence: manifest && licenceOf(manifest, join(ROOT, path, 'LICENSE')),
    installScripts: INSTALL_SCRIPTS.filter((name) => manifest?.scripts?.[name] !== undefined),
    path,
  }
}

/** `a/@b/c` is @b/c inside a. */
function pathOf(key: string): string {
  const names = key.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []
  return names.map((name) => `node_modules/${name}`).join('/')
}

/** What the manifest states, else what the first line of the licence file names. */
function licenceOf({ license, licenses }: Manifest, file: string): string {
  if (typeof license === 'string') return license
  const all = license ? [license] : (licenses ?? [])
  const stated = all.map(({ type }) => type).join(' AND ')
  if (stated !== '') return stated
  const isMit = existsSync(file) && readFileSync(file, 'utf8').startsWith('MIT License')
  return isMit ? 'MIT' : 'unknown'
}
