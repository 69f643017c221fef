/** A Postgres of the system's own packages, so that pg_dump and pg_restore are those of its version. */
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { choosePostgresAccount } from '@/boot/embedded/postgres-account'

export type DebianPostgres = {
  port: number
  /** What psql and its siblings read to be its superuser. */
  environment: Record<string, string>
  stop(): Promise<void>
}

/** Starts it, empty, with its files below `folder`. */
export async function startDebianPostgres(folder: string): Promise<DebianPostgres> {
  const programs = dirname(programPath('postgresql'))
  const data = join(folder, 'data')
  await mkdir(folder, { recursive: true })
  const { wrapper, owner } = await choosePostgresAccount(folder, data, join(programs, 'initdb'))
  const password = crypto.randomUUID()
  await writeFile(join(folder, 'password'), password)
  for (const path of [folder, join(folder, 'password')]) if (owner) await chown(path, owner.uid, owner.gid)
  const made = await spawn([
    ...[...wrapper, join(programs, 'initdb'), '--pgdata', data, '--username', 'postgres', '--auth', 'scram-sha-256'],
    ...['--pwfile', join(folder, 'password'), '--no-sync', '--encoding', 'UTF8', '--locale', 'C'],
  ]).exited
  if (made !== 0) throw new Error(`initdb ended with ${made}`)
  const port = await freePort()
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' }
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn([...wrapper, join(programs, 'postgres'), '-D', data, ...words])
  const environment = { PGUSER: 'postgres', PGPASSWORD: password, PGHOST: '127.0.0.1', PGPORT: String(port) }
  const answers = async () => {
    if (server.exitCode !== null) throw new Error('Postgres ended at its start')
    const asked = Bun.spawn(['psql', '--command', 'SELECT 1', 'postgres'], {
      env: { ...BARE_ENVIRONMENT, ...environment },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    return (await asked.exited) === 0
  }
  await until(answers, 'Postgres')
  return {
    port,
    environment,
    async stop() {
      server.kill('SIGINT')
      await server.exited
    },
  }
}

function spawn(command: string[]): Bun.Subprocess {
  return Bun.spawn(command, { env: { ...BARE_ENVIRONMENT, LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'ignore'] })
}
