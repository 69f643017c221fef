/** The unit for systemd: accepted by systemd's own judge, and with the time that a gateway needs to leave. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, readExample } from '@test/deploy/compose-file'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'

const judge = Bun.which('systemd-analyze')
if (!judge) process.stderr.write('SKIPPED: the unit is not judged, since systemd-analyze is not on the PATH.\n')
const text = await Bun.file(join(ROOT, 'deploy', 'systemd', 'svc-gateway.service')).text()

test.skipIf(!judge)('systemd has nothing against it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-unit-'))
  const path = join(folder, 'svc-gateway.service')
  // A program that is there, in the place of the one that is not installed here.
  await Bun.write(path, text.replace('/usr/local/bin/svc-gateway', process.execPath))
  const child = Bun.spawn([judge ?? '', 'verify', '--man=no', path], {
    env: { ...BARE_ENVIRONMENT, HOME: folder },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`
  // It looks at the machine's own units as well.
  expect(said.split('\n').filter((line) => line.includes('svc-gateway.service'))).toEqual([])
  await rm(folder, { recursive: true })
})

test('it waits longer than the gateway may take to leave', async () => {
  const example = await readExample()
  const times = ['DRAIN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'].map((name) => Number(example.get(name)?.value))
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])
  expect(seconds * 1000).toBeGreaterThanOrEqual(times.reduce((sum, each) => sum + each) + 10_000)
})
