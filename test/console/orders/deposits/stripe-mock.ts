/** Stripe's own mock, which checks requests by the schema of Stripe's API. Built once, in the cache folder. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { assert } from '@/lib/assert'

const VERSION = 'v0.203.0'
const CACHE = join(import.meta.dir, '..', '..', '..', '..', '.cache', 'stripe-mock', VERSION)
const PROGRAM = join(CACHE, 'stripe-mock')
/** Where Go is if it was not installed as a package. */
const GO = '/usr/local/go/bin/go'

/** What Debian calls the package that has Go. */
export const GO_PACKAGES = ['golang-go']

/** Whether the machine has Go, or needs it no more. */
export function canMakeStripeMock(): boolean {
  return existsSync(PROGRAM) || goPath() !== undefined
}

function goPath(): string | undefined {
  return Bun.which('go') ?? (existsSync(GO) ? GO : undefined)
}

/** Builds the mock if it is not there yet. Throws if that fails. */
export async function prepareStripeMock(): Promise<string> {
  if (existsSync(PROGRAM)) return PROGRAM
  const go = goPath()
  assert(go, 'Go is not installed: apt-get install golang-go')
  const build = Bun.spawn(
    ['env', `GOBIN=${CACHE}`, 'GOFLAGS=-modcacherw', go, 'install', `github.com/stripe/stripe-mock@${VERSION}`],
    { stdout: Bun.stderr, stderr: 'inherit' },
  )
  assert((await build.exited) === 0, `stripe-mock ${VERSION} cannot be built with ${go}`)
  return PROGRAM
}

/** Starts the mock on a free port. */
export async function startStripeMock(): Promise<{ url: string; stop(): Promise<void> }> {
  const program = await prepareStripeMock()
  const port = await freePort()
  const child = Bun.spawn([program, '-http-addr', `127.0.0.1:${port}`], { stdout: 'ignore', stderr: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(url).catch(() => undefined)) !== undefined, 'stripe-mock')
  return {
    url,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}
