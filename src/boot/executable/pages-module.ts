/** Writes the module that replaces the loader of the dashboard's files in the single executable. It embeds the files. */
import { join } from 'node:path'
import type { DashboardAssets } from '@/console/http/assets/assets'

/** The module's text, for a build saved in `folder`. */
export function pagesModule(folder: string, { files, ...pages }: DashboardAssets): string {
  const imports: string[] = []
  const entries = [...files].map(([name, { contentType }], index) => {
    const paths = ['', '.br', '.gz'].map((suffix, part) => {
      imports.push(
        `import file${index}_${part} from ${JSON.stringify(join(folder, name + suffix))} with { type: 'file' }`,
      )
      return `file${index}_${part}`
    })
    return `[${JSON.stringify(name)}, ${JSON.stringify(contentType)}, ${paths.join(', ')}]`
  })
  return `${imports.join('\n')}
import { taggedAsset } from '@/http/asset'
import { once } from '@/lib/once'
const FILES = [${entries.join(',\n')}] as const
const read = (path: string) => Bun.file(path).bytes()
export const loadAssets = once(async () => {
  const files = FILES.map(async ([name, contentType, body, brotli, gzip]) => [
    name,
    taggedAsset({ contentType, body: await read(body), brotli: await read(brotli), gzip: await read(gzip) }),
  ] as const)
  return { ...${JSON.stringify(pages)}, files: new Map(await Promise.all(files)) }
})
export function createAssetLoader() {
  return loadAssets
}
`
}
