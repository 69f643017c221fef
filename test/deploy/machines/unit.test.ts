/** The systemd units: valid by systemd's own check, with enough time for a gateway to stop. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, readExample } from '@test/deploy/compose-file'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'

const judge = Bun.which('systemd-analyze')
if (!judge) process.stderr.write('SKIPPED: the unit is not judged, since systemd-analyze is not on the PATH.\n')
const UNITS = ['svc-gateway.service', 'svc-gateway-migrate.service'] as const
const readUnit = (name: (typeof UNITS)[number]) => Bun.file(join(ROOT, 'deploy', 'systemd', name)).text()
const text = await readUnit('svc-gateway.service')
const migration = await readUnit('svc-gateway-migrate.service')

test.skipIf(!judge)('systemd accepts each unit without a warning', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-unit-'))
  const paths = UNITS.map((name) => join(folder, name))
  for (const [index, name] of UNITS.entries()) {
    // A program that is there, in the place of the one that is not installed here.
    const unit = (await readUnit(name)).replace('/usr/local/bin/svc-gateway', process.execPath)
    await Bun.write(paths[index] as string, unit)
  }
  const child = Bun.spawn([judge ?? '', 'verify', '--man=no', ...paths], {
    env: { ...BARE_ENVIRONMENT, HOME: folder },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`
  // It looks at the machine's own units as well.
  expect(said.split('\n').filter((line) => /svc-gateway(-migrate)?\.service/.test(line))).toEqual([])
  await rm(folder, { recursive: true })
})

test('the unit’s stop timeout is longer than the gateway’s shutdown', async () => {
  const example = await readExample()
  const times = ['DRAIN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'].map((name) => Number(example.get(name)?.value))
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])
  expect(seconds * 1000).toBeGreaterThanOrEqual(times.reduce((sum, each) => sum + each) + 10_000)
})

test('the migration runs before the gateway, with its own settings and few privileges', () => {
  const linesOf = (unit: string, pattern: RegExp) => unit.split('\n').filter((line) => pattern.test(line))
  expect(linesOf(text, /^(Wants|After)=.*svc-gateway-migrate\.service/)).toHaveLength(2)
  expect(linesOf(text, /^EnvironmentFile=/)).toEqual(['EnvironmentFile=/etc/svc-gateway/gateway.env'])
  expect(linesOf(migration, /^EnvironmentFile=/)).toEqual(['EnvironmentFile=/etc/svc-gateway/migrator.env'])
  const limits = /^(DynamicUser|NoNew|Capability|Protect|Private|Restrict|Lock|SystemCall)/
  expect(linesOf(migration, limits)).toEqual(linesOf(text, limits))
})
