/** A Caddy in front of gateways, with `deploy/proxy/Caddyfile`; only addresses and the time between two looks are the suite's. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { type InFront, replaced } from './in-front'

const SETTINGS = join(import.meta.dir, '..', '..', '..', 'deploy', 'proxy', 'Caddyfile')

const HEALTH = 'health_checker.active'

/** Starts it below `folder` in front of the gateways at `urls`; it asks each of them every `lookMs` whether it is ready. */
export async function startCaddy(folder: string, urls: readonly string[], lookMs: number): Promise<InFront> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'Caddyfile')
  const log = join(folder, 'caddy.log')
  const text = await readFile(SETTINGS, 'utf8')
  await writeFile(file, replaced(text, 'health_interval 1s', `health_interval ${lookMs}ms`))
  const url = `http://127.0.0.1:${await freePort()}`
  const child = Bun.spawn([programPath('caddy'), 'run', '--adapter', 'caddyfile', '--config', file], {
    env: {
      ...BARE_ENVIRONMENT,
      HOME: folder,
      ADMIN_ADDRESS: 'off',
      SITE_ADDRESS: url,
      GATEWAYS: urls.map((each) => new URL(each).host).join(' '),
    },
    stdio: ['ignore', 'ignore', Bun.file(log)],
  })
  const answers = () => fetch(`${url}/healthz`).then(({ ok }) => ok)
  await until(() => answers().catch(() => child.exitCode !== null), 'Caddy to serve')
  if (child.exitCode !== null) throw new Error(`Caddy ended at its start: ${await Bun.file(log).text()}`)
  return {
    url,
    async takesBack(gateway) {
      const { host } = new URL(gateway)
      // What it said last of this gateway's health.
      const said = async () =>
        (await readFile(log, 'utf8')).split('\n').findLast((line) => line.includes(HEALTH) && line.includes(host))
      await until(async () => (await said())?.includes('"host is up"'), `Caddy to find ${host} ready`, 30_000)
    },
    async errors() {
      const lines = (await readFile(log, 'utf8')).split('\n')
      return lines.filter((line) => line.includes('"level":"error"') && !line.includes('connection refused'))
    },
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
