/** The pages are built again after a change in any file that they import. */
import { expect, test } from 'bun:test'
import { findTarget, readTrees } from '@test/tidy/tree'
import { SOURCES } from '@/boot/dashboard-assets/load'

test('a build of the pages depends on every file that they import', () => {
  const files = new Map(readTrees().src.map((source) => [source.path, source]))
  const paths = new Set(files.keys())
  const reached = new Set<string>()
  function follow(path: string): void {
    if (reached.has(path)) return
    reached.add(path)
    for (const { specifier, isTypeOnly } of files.get(path)?.imports ?? []) {
      const target = isTypeOnly ? undefined : findTarget(path, specifier, paths)
      if (target !== undefined) follow(target)
    }
  }
  follow('src/dashboard/main.tsx')
  expect(reached).toContain('src/people/form.tsx')
  expect([...reached].filter((path) => !SOURCES.some((folder) => path.startsWith(`${folder}/`)))).toEqual([])
})
