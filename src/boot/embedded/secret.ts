/** A password that an embedded server and its clients share through a file only its owner can read. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { randomBase62 } from '@/lib/ids'

const PASSWORD_LENGTH = 32

/** Reads the password kept at `path`, or makes one (190 bits, URL-safe) and keeps it there with mode 0600. */
export async function readOrCreatePassword(path: string): Promise<string> {
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (kept.length === PASSWORD_LENGTH) return kept
  const password = randomBase62(PASSWORD_LENGTH)
  await writeFile(`${path}.new`, password, { mode: 0o600 })
  await rename(`${path}.new`, path)
  return password
}
