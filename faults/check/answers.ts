/** I9: an answer ends as its format says or visibly badly, and holds the words of its own request in their order. */
import type { Tolerance } from '@faults/fault'
import type { Sighting } from '@faults/world/client'
import { wordOf } from '@faults/world/scripts'
import type { Breach } from './evidence'

/** Checks every answer that a client saw. */
export function checkAnswers(sightings: readonly Sighting[], { shortened }: Tolerance): Breach[] {
  return sightings.flatMap((sighting) => {
    const detail = complaint(sighting, shortened?.has(sighting.marker) ?? false)
    return detail === undefined ? [] : [{ invariant: 'I9', detail: `${sighting.marker}: ${detail}` }]
  })
}

function complaint(
  { ending, marker, words, text, format, status }: Sighting,
  isShortened: boolean,
): string | undefined {
  if (ending === 'silent') return `a cut ${format} answer looked complete`
  if (status !== 200 || text === '') return undefined
  const whole = Array.from({ length: words }, (_, index) => wordOf(marker, index)).join('')
  if (ending === 'complete' && text !== whole && !isShortened)
    return `complete, but said ${JSON.stringify(text.slice(0, 120))}`
  return whole.startsWith(text) ? undefined : `was told ${JSON.stringify(text.slice(0, 120))}`
}
