/** The Markdown of the guide as the repository has it. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the guide. */
const GUIDE = join(import.meta.dir, '..', '..', '..', 'docs', 'guide')

/** The names of its files, without `.md`. */
export const GUIDE_NAMES: readonly string[] = readdirSync(GUIDE)
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length))
  .sort()

/** The text of one. */
export function readGuide(name: string): Promise<string> {
  return Bun.file(join(GUIDE, `${name}.md`)).text()
}
