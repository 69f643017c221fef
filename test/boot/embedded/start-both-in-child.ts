/** Runs the stand-in gateway as a process of its own, under the account that a test wants. */

import { chown, mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { until } from '@test/support/until'

/** A running stand-in and the servers it started. `exited` is its exit code, or undefined if a signal ended it. */
export type StandIn = {
  pid: number
  redis: { url: string; pid: number }
  postgres: { url: string; pid: number }
  exited: Promise<number | null>
}

type Account = 'root' | 'ordinary user'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
/** Changes to a user that is not root but may still pass folders closed to it, since the project may lie in one. */
const AS_NOBODY = [
  ...['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'],
]

/** The accounts that can be tried here: root can be anybody, anybody else only themselves. */
export const ACCOUNTS: readonly Account[] = isRoot ? ['root', 'ordinary user'] : ['ordinary user']

/** A new data folder for `account` whose path has a space in it and is longer than the path of a socket may be. */
export async function newDataDir(account: Account): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'svc embedded '))
  const dataDir = join(parent, 'long '.repeat(25).trim())
  await mkdir(dataDir)
  if (isRoot && account === 'ordinary user') for (const path of [parent, dataDir]) await chown(path, NOBODY, NOBODY)
  return dataDir
}

/** Starts the stand-in in a process group of its own and waits for its servers. */
export async function startBothInChild(dataDir: string, account: Account): Promise<StandIn> {
  const wrapper = isRoot && account === 'ordinary user' ? AS_NOBODY : []
  const child = Bun.spawn([...wrapper, process.execPath, join(import.meta.dir, 'start-both.ts'), dataDir], {
    env: { ...BARE_ENVIRONMENT, HOME: dataDir },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  })
  const reader = child.stdout.getReader()
  const first = await reader.read()
  if (first.done) throw new Error(`the stand-in ended: ${await new Response(child.stderr).text()}`)
  const { pid, redis, postgres } = JSON.parse(new TextDecoder().decode(first.value))
  return { pid, redis, postgres, exited: child.exited.then(() => child.exitCode) }
}

/** Waits until none of the processes runs any more; ended ones that nobody has asked about count as gone. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  await until(async () => (await Promise.all(pids.map(isRunning))).every((running) => !running))
}

/** Whether the process runs. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !stat.split(') ').at(-1)?.startsWith('Z')
}
