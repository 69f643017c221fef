/** What a run of tests says in the end: which files took how long, what was skipped, and what was not tried. */
import type { Need } from './judges'
import { packagesOf } from './needs'
import type { Part } from './parts'
import type { Timing } from './timings'

/** Below this, a folder or a file is not worth a line. */
const SHOWN_SECONDS = 2
/** Characters of a failure's reason that its line at the end shows; the whole stands where it happened. */
const SHOWN_MESSAGE = 400
const ENTITIES: Record<string, string> = {
  '&#10;': ' ',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
}

/** Reads what the workers noted of `files`. Tests that run other files of tests pass on the variable, and those note theirs as well. */
export function readTimings(text: string, files: readonly string[]): Timing[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Timing).filter(({ file }) => files.includes(file))
}

/** The folders of test/ and the files that took the most, in seconds of the clock and of the processors. */
export function timingTable(timings: readonly Timing[]): string {
  const folders = new Map<string, { wall: number; processor: number; files: number }>()
  for (const { file, wall, own, children } of timings) {
    const name = file.split('/').slice(0, 2).join('/')
    const sum = folders.get(name) ?? { wall: 0, processor: 0, files: 0 }
    folders.set(name, { wall: sum.wall + wall, processor: sum.processor + own + children, files: sum.files + 1 })
  }
  const rows = timings.map(({ file, wall, own, children }) => ({ name: file, wall, processor: own + children }))
  const folderRows = [...folders].map(([name, sum]) => ({ ...sum, name: `${name} (${sum.files})` }))
  return [
    `  clock  processors (s; from ${SHOWN_SECONDS} s of processors on; without Postgres and Chromium, which files share)`,
    ...tableLines(folderRows),
    '',
    ...tableLines(rows),
  ].join('\n')
}

function tableLines(rows: readonly { name: string; wall: number; processor: number }[]): string[] {
  const shown = rows.filter(({ processor }) => processor >= SHOWN_SECONDS)
  return shown
    .toSorted((one, other) => other.processor - one.processor)
    .map(({ name, wall, processor }) => `${cell(wall)}  ${cell(processor)}  ${name}`)
}

function cell(seconds: number): string {
  return seconds.toFixed(1).padStart(7)
}

/** The tests of a JUnit report that were skipped while they ran, as `file: name`. */
export function skippedTests(report: string): string[] {
  return [...report.matchAll(/<testcase ([^>]*[^/])>\s*<skipped/g)].map(([, attributes = '']) => testName(attributes))
}

/** The tests of a JUnit report that failed, as `file: name: why`, the reason cut to its beginning. */
export function failedTests(report: string): string[] {
  const failures = report.matchAll(/<testcase ([^>]*[^/])>\s*<failure([^>]*)>/g)
  return [...failures].map(([, attributes = '', failure = '']) => {
    const message = attributeOf(failure, 'message').replaceAll(/\s+/g, ' ').trim()
    return `${testName(attributes)}: ${message.slice(0, SHOWN_MESSAGE)}`
  })
}

function testName(attributes: string): string {
  const place = [attributeOf(attributes, 'classname'), attributeOf(attributes, 'name')].filter((name) => name !== '')
  return `${attributeOf(attributes, 'file')}: ${place.join(' > ')}`
}

function attributeOf(attributes: string, name: string): string {
  const written = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  return written.replaceAll(/&(#10|lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}

/** What was not tried, and which command tries it, in one line; then each test that skipped itself. Nothing if all was tried. */
export function untriedLines(
  part: Part,
  missing: ReadonlyMap<string, readonly Need[]>,
  skipped: readonly string[],
): string[] {
  const lines = skipped.map((test) => `SKIPPED: ${test}`)
  if (missing.size === 0) return lines
  const needs = [...new Set([...missing.values()].flat())].sort()
  const places = [...new Set([...missing.keys()].map((file) => file.split('/').slice(0, 2).join('/')))]
  const how = `apt-get install ${needs.flatMap(packagesOf).join(' ')} && bun run ${part} ${[...missing.keys()].join(' ')}`
  return [`NOT TRIED: ${missing.size} files of ${places.join(', ')}, for want of ${needs.join(', ')}: ${how}`, ...lines]
}
