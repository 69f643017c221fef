/** The vendors' libraries for Java and our side of them, compiled: made once for each version of both, in the cache folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { assert } from '@/lib/assert'

const CACHE = join(import.meta.dir, '..', '..', '..', '.cache', 'java')
const POM = join(import.meta.dir, 'pom.xml')
const PROGRAMS = ['java', 'javac', 'mvn']

/** What Debian calls the packages that have them. */
export const JAVA_PACKAGES = ['default-jdk-headless', 'maven']

/** The version of a library that `pom.xml` pins. */
export function javaVersionOf(artifact: string): string {
  const pinned = new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>([^<]+)<`).exec(
    readFileSync(POM, 'utf8'),
  )?.[1]
  assert(pinned, `pom.xml pins ${artifact}`)
  return pinned
}

/** Whether the machine has what compiles and runs Java, and fetches libraries. */
export function canMakeJava(): boolean {
  return PROGRAMS.every((program) => Bun.which(program) !== null)
}

/** The class path of the clients, which are made where they aren't there yet. Says what it does; undefined = they can't be had here. */
export async function prepareJava(say: (line: string) => void): Promise<string | undefined> {
  if (!canMakeJava()) return missing(`${PROGRAMS.join(', ')} are not all there`, say)
  const sources = readdirSync(import.meta.dir).filter((name) => name.endsWith('.java'))
  const texts = await Promise.all([POM, ...sources.map(here)].map((path) => Bun.file(path).text()))
  const folder = join(CACHE, Bun.hash(texts.join('\n')).toString(36))
  const classPath = [join(folder, 'classes'), join(folder, 'libraries', '*')].join(delimiter)
  if (existsSync(folder)) return classPath
  say('Fetching and compiling the Java libraries with which the gateway is tested.')
  const draft = join(CACHE, `draft-${process.pid}`)
  await mkdir(draft, { recursive: true })
  const libraries = join(draft, 'libraries')
  const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${libraries}`, '-DincludeScope=runtime']
  const isMade =
    (await run('mvn', '--quiet', '--batch-mode', '--file', POM, ...copy)) &&
    (await run('javac', '-d', join(draft, 'classes'), '-cp', join(libraries, '*'), ...sources.map(here)))
  // Whoever is first has made it for all.
  if (isMade) await rename(draft, folder).catch(() => undefined)
  await rm(draft, { recursive: true, force: true })
  return existsSync(folder) ? classPath : missing('the libraries cannot be fetched or compiled', say)
}

function here(name: string): string {
  return join(import.meta.dir, name)
}

function missing(why: string, say: (line: string) => void): undefined {
  say(`SKIPPED: what is tested with Java is not, since ${why}.`)
}

async function run(...command: string[]): Promise<boolean> {
  return (await Bun.spawn(command, { stdout: Bun.stderr, stderr: 'inherit' }).exited) === 0
}
