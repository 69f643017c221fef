/** The launcher's watch on the process that started the gateway, with shells in place of npx and `bun run`. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { untilGone } from './start-both-in-child'

const SCRIPT = join(import.meta.dir, 'launched.ts')
/** Keeps a shell from replacing itself by its last command. */
const STAY = '; true'

function launch(command: string, environment: Record<string, string>) {
  const shell = Bun.spawn(['bash', '-c', `${command}${STAY}`], {
    env: { ...BARE_ENVIRONMENT, BUN: process.execPath, SCRIPT, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = shell.stdout.getReader()
  const nextLine = async () => new TextDecoder().decode((await reader.read()).value).trim()
  return { pid: shell.pid, nextLine }
}

test('when `bun run` ends, the gateway that it started ends too', async () => {
  const { pid, nextLine } = launch('"$BUN" "$SCRIPT"', { npm_lifecycle_event: 'start' })
  const child = Number(await nextLine())
  process.kill(pid, 'SIGKILL')
  expect(await nextLine()).toBe('gone')
  await untilGone([child])
})

test('ending npx stops the gateway, even if `bun run` stays alive', async () => {
  const environment = { npm_lifecycle_event: 'start', RUN: `"$BUN" "$SCRIPT"${STAY}` }
  const npx = `exec -a 'npm exec bun@1.4.5 run start' bash -c 'bash -c "$RUN"${STAY}'`
  const { pid, nextLine } = launch(npx, environment)
  const child = Number(await nextLine())
  process.kill(pid, 'SIGKILL')
  expect(await nextLine()).toBe('gone')
  await untilGone([child])
})
