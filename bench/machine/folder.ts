/** A folder for the data of one run, gone when the run is, however it ends. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a new one whose name begins with `prefix`. */
export async function temporaryFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  process.once('exit', () => removeFolder(folder))
  return folder
}

/** Removes it with all that is in it; gone already is as good. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
