/** The pages are built again after a change in any file that they import. */
import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { SOURCES } from '@/boot/dashboard-assets/load'

const ROOT = join(import.meta.dir, '..', '..', '..')
/** Reads which files one imports, without those of which it uses only types. */
const transpiler = new Bun.Transpiler({ loader: 'tsx' })

test('a build of the pages depends on every file that they import', async () => {
  const reached = new Set<string>()
  async function follow(path: string): Promise<void> {
    if (reached.has(path)) return
    reached.add(path)
    for (const { path: specifier } of transpiler.scanImports(await Bun.file(join(ROOT, path)).text())) {
      if (!/^(@\/|\.).*(?<!\.css)$/.test(specifier)) continue
      await follow(Bun.resolveSync(specifier, dirname(join(ROOT, path))).slice(ROOT.length + 1))
    }
  }
  await follow('src/dashboard/main.tsx')
  expect([...reached]).toContain('src/people/form.tsx')
  expect([...reached].filter((path) => !SOURCES.some((folder) => path.startsWith(`${folder}/`)))).toEqual([])
})
