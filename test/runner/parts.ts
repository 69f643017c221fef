/** Which test files each command runs: every file belongs to one part, or to `bun run check`. */
import { listFiles } from '@test/tidy/tree'
import { judgeOf } from './judges'

/** A command that runs tests: `bun run test` or `bun run judges`. */
export type Part = 'test' | 'judges'

const TEST = /\.test\.tsx?$/
/** What `bun run check` runs: the structure of the code, which shows nothing of whether the product works. */
export const CHECKED = 'test/tidy/'

/** The test files of a part; of those only what lies at or below one of `wanted`, where that names anything. Any file can be named. */
export function selectFiles(part: Part, wanted: readonly string[]): string[] {
  const places = wanted.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''))
  return listFiles('test').filter((file) => {
    if (partOf(file) !== part) return false
    return (
      places.includes(file) ||
      (TEST.test(file) && (places.length === 0 || places.some((place) => file.startsWith(`${place}/`))))
    )
  })
}

function partOf(file: string): Part | 'check' {
  if (file.startsWith(CHECKED)) return 'check'
  return judgeOf(file) === undefined ? 'test' : 'judges'
}
