/** Three machines as the page on deployment sets them up, made of processes: each has an address of its own on loopback. */
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { type DebianPostgres, startDebianPostgres } from './debian-postgres'
import { blockOf, inPlace, runWell } from './guide-blocks'

export const MACHINES = [1, 2, 3] as const

export type Machine = {
  /** Where its gateway listens. */
  url: string
  /** Starts the gateway as the units of systemd say, behind the migration where this machine has it, and waits until it is ready. */
  start(): Promise<void>
  signal(name: NodeJS.Signals): Promise<void>
  /** Ends the Redis nodes of this machine at once. */
  loseRedis(): void
}

export type Site = {
  /** A folder where the page's relative paths lead to the right places. */
  work: string
  postgres: DebianPostgres
  machines: readonly Machine[]
  /** The text of a block for this machine, with our places for those of the page. */
  on(machine: number, text: string): string
  stop(): Promise<void>
}

/** Follows the page from an empty folder to three gateways, which ask the provider at `upstream`. `site` is the proxy's host and port. */
export async function setUpMachines(folder: string, upstream: string, site: string): Promise<Site> {
  const work = join(folder, 'work')
  await mkdir(join(folder, 'bin'), { recursive: true })
  await mkdir(work)
  for (const name of ['deploy', 'config']) await symlink(join(ROOT, name), join(work, name))
  const postgres = await startDebianPostgres(join(folder, 'postgres'))
  const [port, first, second] = [await freePort(), await freePort(), await freePort()]
  const on = (machine: number, text: string) =>
    inPlace(
      // Each machine says its own address where the page says the first one's.
      text.replaceAll(/(--bind |HOST=)10\.0\.0\.1\b/g, (_, word) => `${word}10.0.0.${machine}`),
      {
        ...{ '10.0.0.1': '127.0.1.1', '10.0.0.2': '127.0.1.2', '10.0.0.3': '127.0.1.3', '10.0.0.4': '127.0.0.1' },
        ...{ ':3000': `:${port}`, '6379': String(first), '6380': String(second), ':5432': `:${postgres.port}` },
        ...{ '/usr/local/bin': join(folder, 'bin'), '/etc/svc-gateway': join(folder, `etc-${machine}`) },
        ...{ '/var/lib/redis': join(folder, `redis-${machine}`), 'gateway.example': site },
        ...{
          'executable svc-gateway': `executable ${folder}/svc-gateway`,
          '755 svc-gateway': `755 ${folder}/svc-gateway`,
        },
      },
    )
  await runWell(blockOf('sh cluster secrets'), work)
  await runWell(on(1, blockOf('sh cluster postgres')), work, postgres.environment)
  const nodes = MACHINES.map((machine) => startNodes(fromItself(on(machine, blockOf('sh cluster redis'))), work))
  const join6 = on(1, blockOf('sh cluster join'))
  await until(async () => (await runs(join6, work)) || undefined, 'the nodes to be one cluster')
  for (const machine of MACHINES) {
    await runWell(
      on(machine, blockOf('sh machine').replace(/^bun run executable.*$/m, machine === 1 ? '$&' : '')),
      ROOT,
    )
    await runWell(on(machine, blockOf('sh cluster settings')), work, { PROVIDER1_API_KEY: 'k-one' })
  }
  await runWell(on(1, blockOf('sh cluster migrator')), work)
  const machines = MACHINES.map((machine, index) =>
    createMachine({
      ...{ folder: join(folder, `etc-${machine}`), program: join(folder, 'bin', 'svc-gateway') },
      ...{ url: `http://127.0.1.${machine}:${port}`, nodes: nodes[index] as Bun.Subprocess },
      extra: { PORT: String(port), PROVIDER1_BASE_URL: upstream, DRAIN_DELAY_MS: '1200', LOG_LEVEL: 'warn' },
    }),
  )
  return {
    ...{ work, postgres, machines, on },
    async stop() {
      for (const machine of machines) await machine.signal('SIGKILL')
      for (const machine of machines) machine.loseRedis()
      await Promise.all(nodes.map((node) => node.exited))
      await postgres.stop()
    },
  }
}

type MachineOptions = {
  folder: string
  program: string
  url: string
  nodes: Bun.Subprocess
  extra: Record<string, string>
}

function createMachine({ folder, program, url, nodes, extra }: MachineOptions): Machine {
  let child: Bun.Subprocess | undefined
  return {
    url,
    async start() {
      await migrate(folder, program)
      const unit = await readUnit('svc-gateway')
      const settings = await readSettings(join(folder, 'gateway.env'))
      if (unit.ExecStart?.[0] !== '/usr/local/bin/svc-gateway') throw new Error(`the unit starts ${unit.ExecStart}`)
      const given = Object.fromEntries((unit.Environment ?? []).map((line) => line.split('=') as [string, string]))
      child = Bun.spawn([program], {
        env: { ...BARE_ENVIRONMENT, ...given, ...settings, ...extra },
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const started = child
      await until(async () => {
        if (started.exitCode !== null) throw new Error(`the gateway at ${url} ended with ${started.exitCode}`)
        return fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
      }, `the gateway at ${url} to be ready`)
    },
    async signal(name) {
      child?.kill(name)
      await child?.exited
    },
    loseRedis: () => void endGroup(nodes),
  }
}

/** What the unit of the migration does: nothing without its file, whose settings are all that it has. */
async function migrate(folder: string, program: string): Promise<void> {
  const unit = await readUnit('svc-gateway-migrate')
  if (!unit.ExecStart?.[0]?.startsWith('/usr/local/bin/svc-gateway ')) throw new Error(`it starts ${unit.ExecStart}`)
  const [path = ''] = unit.EnvironmentFile ?? []
  const file = join(folder, path.replace('/etc/svc-gateway/', ''))
  if (unit.ConditionPathExists?.[0] !== path) throw new Error('it asks for another file than it reads')
  if (!(await Bun.file(file).exists())) return
  await runWell(unit.ExecStart[0].replace('/usr/local/bin/svc-gateway', program), folder, await readSettings(file))
}

/** Between addresses of loopback the system doesn't call from the one that a server listens at, as it does between machines. */
function fromItself(block: string): string {
  return block.replaceAll(/--bind (\S+)/g, '--bind $1 --bind-source-addr $1')
}

/** Starts both nodes of a machine, in a group of processes of their own. */
function startNodes(block: string, work: string): Bun.Subprocess {
  programPath('redis-server')
  return Bun.spawn(['setsid', 'sh', '-e', '-c', `${block}\nwait`], {
    cwd: work,
    env: BARE_ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function endGroup({ pid, exitCode, signalCode }: Bun.Subprocess): void {
  if (exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL')
}

async function runs(block: string, work: string): Promise<boolean> {
  return runWell(block, work).then(
    () => true,
    () => false,
  )
}

/** What the unit says, by name; a name may stand there several times. */
async function readUnit(name: string): Promise<Record<string, string[]>> {
  const text = await Bun.file(join(ROOT, 'deploy', 'systemd', `${name}.service`)).text()
  const found: Record<string, string[]> = {}
  for (const [, key = '', value = ''] of text.matchAll(/^(\w+)=(.*)$/gm)) found[key] = [...(found[key] ?? []), value]
  return found
}

/** As systemd reads an EnvironmentFile. */
async function readSettings(path: string): Promise<Record<string, string>> {
  const lines = (await Bun.file(path).text()).split('\n').filter((line) => /^[A-Z]/.test(line))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
