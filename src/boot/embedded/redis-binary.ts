import { join, resolve } from 'node:path'
import type { OuterEnvironment } from './process'
import { fetchRedis, findUnpackedRedis, type RedisProgram } from './redis-fetch'
import type { Progress } from './server'

const PROGRAM_NAMES = ['redis-server', 'valkey-server']

/** redis-server or valkey-server on PATH, else the one in `cacheDir`, downloaded if necessary. Throws `EmbeddedServerError`. */
export async function findRedis(
  cacheDir: string,
  progress: Progress,
  environment: OuterEnvironment | undefined,
): Promise<RedisProgram> {
  const path = environment?.PATH
  for (const name of PROGRAM_NAMES) {
    const found = Bun.which(name, path === undefined ? {} : { PATH: path })
    if (found) return { path: found, libraryPath: undefined }
  }
  const folder = join(resolve(cacheDir), 'redis')
  return (await findUnpackedRedis(folder)) ?? (await fetchRedis(folder, progress, environment ?? {}))
}
