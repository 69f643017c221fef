/** The table of a run, as people read it. */
import { INVARIANTS } from './check/evidence'
import type { FaultResult } from './run'

export const TABLE_HEAD = [
  '| fault | what was done | clients saw meanwhile | recovery | invariants |',
  '|---|---|---|---|---|',
].join('\n')

/** One row. */
export function tableRow(result: FaultResult): string {
  const { fault, seen, recoveryMs } = result
  const clients = [...seen].sort(([, a], [, b]) => b - a).map(([word, count]) => `${count} ${word}`)
  const recovery = recoveryMs === undefined ? '–' : `${(recoveryMs / 1000).toFixed(1)} s`
  return `| ${fault.id} | ${fault.title} | ${clients.join(', ') || '–'} | ${recovery} | ${verdict(result)} |`
}

/** Whether clients saw what was promised and every invariant held. */
export function isWhole({ complaints, breaches }: FaultResult): boolean {
  return complaints.length === 0 && breaches.length === 0
}

/** What was measured, and what was broken, line by line. */
export function details({ complaints, breaches, notes, durationMs }: FaultResult): string[] {
  return [
    `  · took ${(durationMs / 1000).toFixed(1)} s`,
    ...notes.map((note) => `  · ${note}`),
    ...complaints.map((complaint) => `  ✗ clients: ${complaint}`),
    ...breaches.slice(0, MAX_BREACHES).map(({ invariant, detail }) => `  ✗ ${invariant}: ${detail}`),
    ...(breaches.length > MAX_BREACHES ? [`  ✗ and ${breaches.length - MAX_BREACHES} more`] : []),
  ]
}

const MAX_BREACHES = 12

function verdict(result: FaultResult): string {
  const broken = INVARIANTS.filter((invariant) => result.breaches.some((breach) => breach.invariant === invariant))
  if (broken.length > 0) return `**${broken.join(', ')} broken**`
  return result.complaints.length > 0 ? 'I1–I10 hold; **clients saw something else**' : 'I1–I10 hold'
}
