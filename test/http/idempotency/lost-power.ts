/** A Redis with an append-only file that loses the last seconds of it. */
import { readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'

type AppendOnlyFile = { path: string; bytes: number }

/** The file with the newest writing, as large as it is now. */
export async function currentFile(redis: TestServer): Promise<AppendOnlyFile> {
  const admin = new Redis(redis.url)
  const [, folder = ''] = (await admin.config('GET', 'dir')) as string[]
  // A busy disk puts off what is to be written.
  const isWritten = async () => (await admin.info('persistence')).includes('aof_buffer_length:0')
  await until(isWritten, 'all that is to be kept to be written')
  admin.disconnect()
  const files = await readdir(join(folder, 'appendonlydir'))
  const name = files
    .filter((file) => file.endsWith('.incr.aof'))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const path = join(folder, 'appendonlydir', name.at(-1) ?? '')
  return { path, bytes: (await stat(path)).size }
}

/** Brings Redis back as it was when its file was that long. */
export async function losePower(redis: TestServer, { path, bytes }: AppendOnlyFile): Promise<void> {
  await until(async () => (await stat(path)).size > bytes, 'what is to be lost to be written')
  await redis.kill()
  await truncate(path, bytes)
  await redis.restart()
}
