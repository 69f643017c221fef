/** Loads the dashboard's files: an earlier build of the same sources, or a new one. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DashboardAssets, LoadAssets } from '@/console/http/assets/assets'
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import { buildAssets } from './build'
import { readBuild, writeBuild } from './store'

const ROOT = join(import.meta.dir, '..', '..', '..')
/** The folders of all sources that a build depends on. It also depends on package versions (LOCK_FILE). */
export const SOURCES = ['src/dashboard', 'src/people', 'src/usage', 'src/lib', 'src/boot/dashboard-assets']
const LOCK_FILE = 'bun.lock'
const BUILDS = join(ROOT, '.cache', 'dashboard')

/** Loads once per process, at the first call; after a failure the next call tries again. */
export function createAssetLoader(logger: Logger): LoadAssets {
  return once(() => loadAssets(logger))
}

/** The files built from the current sources. If a build can't be saved to disk, it is used anyway. */
export async function loadAssets(logger: Logger): Promise<DashboardAssets> {
  const folder = join(BUILDS, `build-${await sourceHash()}`)
  const earlier = await readBuild(folder)
  if (earlier) return earlier
  const started = performance.now()
  const assets = await buildAssets()
  logger.info('dashboard_built', { files: assets.files.size, durationMs: Math.round(performance.now() - started) })
  await writeBuild(folder, assets).catch((error) => logger.warn('dashboard_build_not_kept', { error }))
  return assets
}

async function sourceHash(): Promise<string> {
  const folders = await Promise.all(
    SOURCES.map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((name) => join(folder, name)),
    ),
  )
  const hasher = new Bun.CryptoHasher('sha256').update(Bun.version)
  for (const path of [...folders.flat().filter((path) => /\.\w+$/.test(path)), LOCK_FILE].sort()) {
    hasher.update(`\0${path}\0`).update(await Bun.file(join(ROOT, path)).bytes())
  }
  return hasher.digest('hex').slice(0, 20)
}
