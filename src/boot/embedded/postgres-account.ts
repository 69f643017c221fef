/** Chooses the user that runs the embedded Postgres, which refuses root: the current user, a user namespace, or an unprivileged user. */
import { chown, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EmbeddedServerError } from './error'
import { runToEnd } from './process'

/** How to run a Postgres program: the command prefix, and the owner that its files need (undefined: the current user). */
export type PostgresAccount = { wrapper: readonly string[]; owner: { uid: number; gid: number } | undefined }

const PREFERRED_NAMES = ['postgres', 'nobody']
/** A shell command that succeeds if the user can use the folder and the programs. Writes nothing. */
const PROBE = 'test -r "$1" && test -w "$1" && test -x "$1" && exec "$2" --show -D "$1"'

/**
 * Chooses by trying. `directory` is the server's folder, `data` its database files, if they exist. As root, the first choice is a user
 * namespace: files stay root's own, so it works below /root. Next is an unprivileged user, then such a user with the capability to enter
 * closed folders. Existing data keep their owner if possible.
 */
export async function choosePostgresAccount(directory: string, data: string, initdb: string): Promise<PostgresAccount> {
  if (process.getuid?.() !== 0) return { wrapper: [], owner: undefined }
  const existingOwner = (await stat(data).catch(() => undefined))?.uid
  const candidates = listCandidates(await readUsers(), existingOwner)
  const probeDirectory = join(directory, 'probe')
  await mkdir(probeDirectory, { recursive: true, mode: 0o700 })
  try {
    for (const account of candidates) {
      await chown(probeDirectory, account.owner?.uid ?? 0, account.owner?.gid ?? 0)
      const { exitCode } = await runToEnd([...account.wrapper, 'sh', '-c', PROBE, 'sh', probeDirectory, initdb])
      if (exitCode === 0) return account
    }
  } finally {
    await rm(probeDirectory, { recursive: true, force: true })
  }
  throw new EmbeddedServerError(
    'Postgres does not run as root, and no other account can reach its files: start the gateway as another user, or set DATABASE_URL.',
  )
}

type User = { name: string; uid: number; gid: number }

function listCandidates(users: readonly User[], existingOwner: number | undefined): PostgresAccount[] {
  const ordinary = users.filter((user) => user.uid !== 0)
  const named = PREFERRED_NAMES.flatMap((name) => ordinary.filter((user) => user.name === name))
  const user = ordinary.find((each) => each.uid === existingOwner) ?? named[0] ?? ordinary[0]
  if (!user) return []
  const namespace: PostgresAccount = {
    wrapper: ['unshare', '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`],
    owner: undefined,
  }
  const become = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
  // The programs find each other with access(2). The secure bit makes access(2) respect the capability.
  const passClosedFolders = [
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
  ]
  const owner = { uid: user.uid, gid: user.gid }
  const others: PostgresAccount[] = [
    { wrapper: become, owner },
    { wrapper: [...become, ...passClosedFolders], owner },
  ]
  return existingOwner === undefined || existingOwner === 0 ? [namespace, ...others] : [...others, namespace]
}

async function readUsers(): Promise<User[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}

/** Gives `path` and its content to the account that runs Postgres. Creates `path` with mode 0700 if missing. */
export async function prepareForAccount(account: PostgresAccount, path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found) await mkdir(path, { mode: 0o700 })
  if (process.getuid?.() !== 0) return
  const { uid, gid } = account.owner ?? { uid: 0, gid: 0 }
  if (found?.uid === uid) return
  await chown(path, uid, gid)
  if (!found?.isDirectory()) return
  for (const entry of await readdir(path, { recursive: true })) await chown(join(path, entry), uid, gid)
}
