/** Which programs of the machine a test file drives, read from its code and from whatever that imports. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canMakeJava, JAVA_PACKAGES, prepareJava } from '@test/clients/java/environment'
import { canMakePython, preparePython } from '@test/clients/python/environment'
import { canMakeStripeMock, GO_PACKAGES, prepareStripeMock } from '@test/console/orders/deposits/stripe-mock'
import { findChromium } from '@test/support/chromium'
import { canInstall, findProgram, installPackages, isProgram } from '@test/support/debian'
import { findTarget, listFiles } from '@test/tidy/tree'
import { judgeOf, type Need } from './judges'

const ROOT = join(import.meta.dir, '..', '..')
/** How code asks for a program. */
const WITH_PROGRAM = /\bprogramPath\('([\w-]+)'\)/g
const WITH_CHROMIUM = /= findChromium\(\)/
const WITH_PYTHON = /\bpreparePython\('/
const WITH_GO = /= await startStripeMock\(\)/
const WITH_JAVA = /\bprepareJava\(\(/
const TREES = ['src', 'test', 'faults', 'bench']

/** Whether the machine has it. */
async function isThere(need: Need): Promise<boolean> {
  if (need === 'chromium') return findChromium() !== undefined
  if (need === 'java') return canMakeJava()
  if (need === 'go') return canMakeStripeMock()
  return need === 'python' ? canMakePython() : findProgram(need) !== null
}

/** By file, what it drives and the machine lacks; a file that lacks nothing is not in it. */
export async function missingOf(files: readonly string[]): Promise<ReadonlyMap<string, readonly Need[]>> {
  const needsOf = createNeedsReader()
  const lacking = await lackingOf(files)
  const missing = new Map<string, readonly Need[]>()
  for (const file of files) {
    const needs = [...needsOf(file)].filter((need) => lacking.includes(need))
    if (needs.length > 0) missing.set(file, needs)
  }
  return missing
}

/** Installs what the files drive and the machine lacks, where that needs no question; says before what it will be. */
export async function prepareNeeds(files: readonly string[], say: (line: string) => void): Promise<void> {
  const needsOf = createNeedsReader()
  const lacking = await lackingOf(files)
  const way = canInstall() ? 'To be installed from Debian' : 'Missing here, and only root on Debian can install it'
  if (lacking.length > 0) say(`${way}: ${lacking.join(', ')}.`)
  if (lacking.length > 0 && canInstall()) await installPackages(lacking.flatMap(packagesOf))
  const drives = (need: Need) => files.some((file) => needsOf(file).has(need))
  if (drives('python')) for (const list of ['sdks', 'judges', 'aws'] as const) await preparePython(list, say)
  if (drives('java')) await prepareJava(say)
  if (drives('go') && canMakeStripeMock()) await prepareStripeMock()
}

/** What Debian calls the packages that a need is met by. */
export function packagesOf(need: Need): readonly string[] {
  if (need === 'java') return JAVA_PACKAGES
  if (need === 'go') return GO_PACKAGES
  return [need === 'python' ? 'python3-venv' : need]
}

async function lackingOf(files: readonly string[]): Promise<Need[]> {
  const needsOf = createNeedsReader()
  const needs = new Set(files.flatMap((file) => [...needsOf(file)]))
  const lacking: Need[] = []
  for (const need of needs) if (!(await isThere(need))) lacking.push(need)
  return lacking
}

/** Tells what the file at a path, which counts from the project's root, drives. */
export function createNeedsReader(): (path: string) => ReadonlySet<Need> {
  const paths = new Set(TREES.flatMap(listFiles))
  const scanner = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
  const files = new Map<string, { needs: readonly Need[]; imports: readonly string[] }>()

  function read(path: string): { needs: readonly Need[]; imports: readonly string[] } {
    const known = files.get(path)
    if (known) return known
    const text = readFileSync(join(ROOT, path), 'utf8')
    const imported = scanner[path.endsWith('.tsx') ? 'tsx' : 'ts'].scanImports(text)
    const targets = imported.map((item) => findTarget(path, item.path, paths))
    const file = {
      needs: needsIn(text),
      imports: targets.filter((target) => target?.match(/\.tsx?$/) != null) as string[],
    }
    files.set(path, file)
    return file
  }

  return (path) => {
    const listed = judgeOf(path)?.needs
    if (listed) return new Set(listed)
    const reached = new Set([path])
    // A set grows while it is walked.
    for (const one of reached) for (const target of read(one).imports) reached.add(target)
    return new Set([...reached].flatMap((one) => read(one).needs))
  }
}

function needsIn(text: string): Need[] {
  const programs = [...text.matchAll(WITH_PROGRAM)].flatMap(([, name = '']) => (isProgram(name) ? [name] : []))
  return [
    ...programs,
    ...(WITH_CHROMIUM.test(text) ? (['chromium'] as const) : []),
    ...(WITH_PYTHON.test(text) ? (['python'] as const) : []),
    ...(WITH_GO.test(text) ? (['go'] as const) : []),
    ...(WITH_JAVA.test(text) ? (['java'] as const) : []),
  ]
}
