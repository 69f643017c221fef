/**
 * The virtual environment in which the Python clients live: made once for each list of pinned packages, in the cache folder,
 * out of the Python of the machine.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The list of packages, beside this file: the vendors' own libraries, the frameworks on top of them, the judges of manifests, AWS’ own, or readers of files. */
export type PackageList = 'sdks' | 'frameworks' | 'judges' | 'aws' | 'readers'

const CACHE = join(import.meta.dir, '..', '..', '..', '.cache', 'python')
/** Fails where the version is too old for the libraries, or where Debian has split the module off; prints the version. */
const PROBE = 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11); print(sys.version)'
const WANTED = 'Python 3.11 or newer with its venv module (on Debian: apt-get install python3-venv)'

/** The lines of a list, and of the list that it includes. */
export function pinsOf(list: PackageList): string {
  return readFileSync(listPath(list), 'utf8').replace(/^-r shared\.txt$/m, () =>
    readFileSync(listPath('shared'), 'utf8'),
  )
}

function listPath(name: PackageList | 'shared'): string {
  return join(import.meta.dir, `${name}.txt`)
}

/** The Python of the environment, which is made where it isn't there yet. Says what it does; undefined = it can't be had here. */
export async function preparePython(list: PackageList, say: (line: string) => void): Promise<string | undefined> {
  const version = await pythonVersion(say)
  if (version === undefined) return missing(list, `there is no ${WANTED}`, say)
  const lock = listPath(list)
  const digest = Bun.hash(version + pinsOf(list)).toString(36)
  const folder = join(CACHE, `${list}-${digest}`)
  const python = join(folder, 'bin', 'python')
  if (existsSync(python)) return python
  say(`Installing the Python packages of ${list}.txt, with which the gateway is tested.`)
  const draft = join(CACHE, `draft-${process.pid}-${list}`)
  await mkdir(CACHE, { recursive: true })
  const install = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--require-hashes',
    // The list is whole. Left to look for what packages ask for, pip takes a release of today for an extra of one that is pinned.
    '--no-deps',
    '--only-binary',
    ':all:',
    '--requirement',
    lock,
  ]
  const isMade = (await run('python3', '-m', 'venv', draft)) && (await run(join(draft, 'bin', 'python'), ...install))
  // Whoever is first has made it for all.
  if (isMade) await rename(draft, folder).catch(() => undefined)
  await rm(draft, { recursive: true, force: true })
  return existsSync(python) ? python : missing(list, 'the packages cannot be installed', say)
}

function missing(list: PackageList, why: string, say: (line: string) => void): undefined {
  say(`SKIPPED: what is tested with Python (${list}.txt) is not, since ${why}.`)
}

/** The version of a Python that can make environments; Debian's packages are fetched where that needs no question. */
async function pythonVersion(say: (line: string) => void): Promise<string | undefined> {
  const version = await probe()
  if (version !== undefined || process.getuid?.() !== 0 || !Bun.which('apt-get')) return version
  say(`Installing ${WANTED}.`)
  await run('apt-get', 'update', '-q')
  await run('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-q', '--yes', 'python3-venv')
  return probe()
}

/** Whether the machine has a Python that can make environments. */
export async function canMakePython(): Promise<boolean> {
  return (await probe()) !== undefined
}

async function probe(): Promise<string | undefined> {
  if (!Bun.which('python3')) return undefined
  const child = Bun.spawn(['python3', '-c', PROBE], { stdout: 'pipe', stderr: 'ignore' })
  const version = await new Response(child.stdout).text()
  return (await child.exited) === 0 ? version.trim() : undefined
}

async function run(...command: string[]): Promise<boolean> {
  return (await Bun.spawn(command, { stdout: Bun.stderr, stderr: 'inherit' }).exited) === 0
}
