/** Programs that tests run and that are not ours: found on the PATH, or installed from Debian where somebody asks for it. */
import { existsSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'

/** What Debian asks before it starts a service. */
const POLICY = '/usr/sbin/policy-rc.d'
/** Where its packages put the servers of Postgres. */
const POSTGRES = '/usr/lib/postgresql'

/** Of each program that Debian has in a package of the same name, what it is for. */
const PROGRAMS = {
  buildah: 'the image of the Dockerfile is built with it',
  caddy: 'the proxy of compose.yaml is tested with it',
  'redis-server': 'a Redis Cluster is made with it and its redis-cli',
  nginx: 'gateways are restarted behind it',
  prometheus: 'it, and the promtool beside it, judge metrics, alerts and dashboards',
  curl: 'commands of the documents ask gateways with it',
  postgresql: 'backups are made and restored with its programs',
} as const

/** One of them. */
export type Program = keyof typeof PROGRAMS

/** Whether it is one of them that `name` says. */
export function isProgram(name: string): name is Program {
  return name in PROGRAMS
}

/** Where a program is. Throws, saying what to install, where it is missing. */
export function programPath(program: Program): string {
  const found = findProgram(program)
  if (!found) throw new Error(adviceOn(program))
  return found
}

/** Where a program is; null if it is missing. Servers lie where only root's PATH leads, and those of Postgres in a folder of their version. */
export function findProgram(program: Program): string | null {
  if (program === 'postgresql') {
    const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : []
    const newest = versions.sort((one, other) => Number(one) - Number(other)).at(-1)
    const server = `${POSTGRES}/${newest}/bin/postgres`
    return Bun.which('pg_dump') && existsSync(server) ? server : null
  }
  return Bun.which(program) ?? Bun.which(`/usr/sbin/${program}`)
}

/** Whether packages can be installed here without asking anybody. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && Bun.which('apt-get') !== null
}

/** Installs packages of Debian's. A server that comes with one is not started: tests start their own. */
export async function installPackages(names: readonly string[]): Promise<void> {
  await aptGet('update', '-q')
  const isOurs = !existsSync(POLICY)
  if (isOurs) await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  await aptGet('install', '-q', '--yes', '--no-install-recommends', ...names)
  if (isOurs) await rm(POLICY)
}

function adviceOn(program: Program): string {
  return `${program} is not on the PATH, and ${PROGRAMS[program]}: install it, e.g. apt-get install ${program}`
}

async function aptGet(...words: string[]): Promise<void> {
  const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...words]
  await Bun.spawn(command, { stdout: Bun.stderr, stderr: 'inherit' }).exited
}
