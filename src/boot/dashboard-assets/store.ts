/** Saves a build of the dashboard to disk, so that only the first start after a change builds it. */
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DashboardAssets } from '@/console/http/assets/assets'
import { type Asset, taggedAsset } from '@/http/asset'

type Manifest = { page: string; docsPage: string; icon: string; files: { name: string; contentType: string }[] }

const MANIFEST = 'manifest.json'
const ENCODINGS = { brotli: '.br', gzip: '.gz' } as const

/** Errors for "no file descriptor left". They don't mean that the file is missing. */
const OUT_OF_DESCRIPTORS = ['EMFILE', 'ENFILE']

/** Reads the build in `folder`; undefined if incomplete. Rejects if no descriptor is free: a new build would then end the process. */
export async function readBuild(folder: string): Promise<DashboardAssets | undefined> {
  try {
    const manifest = (await Bun.file(join(folder, MANIFEST)).json()) as Manifest
    const files = await Promise.all(
      manifest.files.map(async ({ name, contentType }): Promise<[string, Asset]> => {
        const read = (suffix: string) => Bun.file(join(folder, name + suffix)).bytes()
        const [body, brotli, gzip] = await Promise.all([read(''), read(ENCODINGS.brotli), read(ENCODINGS.gzip)])
        return [name, taggedAsset({ contentType, body, brotli, gzip })]
      }),
    )
    const { page, docsPage, icon } = manifest
    return { page, docsPage, icon, files: new Map(files) }
  } catch (error) {
    if (error instanceof Error && 'code' in error && OUT_OF_DESCRIPTORS.includes(String(error.code))) throw error
    return undefined
  }
}

/** Writes a build atomically, and removes builds of earlier sources. */
export async function writeBuild(folder: string, { page, docsPage, icon, files }: DashboardAssets): Promise<void> {
  const parent = dirname(folder)
  await mkdir(parent, { recursive: true })
  const earlier = await readdir(parent)
  const draft = await mkdtemp(join(parent, 'draft-'))
  // A container may build as root and serve as another user.
  await chmod(draft, 0o755)
  for (const [name, asset] of files) {
    await Bun.write(join(draft, name), asset.body)
    for (const [encoding, suffix] of Object.entries(ENCODINGS)) {
      await Bun.write(join(draft, name + suffix), asset[encoding as keyof typeof ENCODINGS])
    }
  }
  const manifest: Manifest = {
    page,
    docsPage,
    icon,
    files: [...files].map(([name, { contentType }]) => ({ name, contentType })),
  }
  await Bun.write(join(draft, MANIFEST), JSON.stringify(manifest))
  // If the rename fails, another process has already saved the same build.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
  for (const name of earlier) {
    if (name.startsWith('build-') && join(parent, name) !== folder)
      await rm(join(parent, name), { recursive: true, force: true })
  }
}
