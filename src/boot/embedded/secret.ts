import { readFile, rename, writeFile } from 'node:fs/promises'
import { randomBase62 } from '@/lib/ids'

const PASSWORD_LENGTH = 32

/**
 * Reads the password of an embedded server from `path`. If the file is missing, writes a new password (190 bits, URL-safe) with mode 0600.
 */
export async function readOrCreatePassword(path: string): Promise<string> {
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (kept.length === PASSWORD_LENGTH) return kept
  const password = randomBase62(PASSWORD_LENGTH)
  await writeFile(`${path}.new`, password, { mode: 0o600 })
  await rename(`${path}.new`, path)
  return password
}
