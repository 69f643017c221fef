/** Every way of cutting a stream into reads. */
import type { Random } from '@test/fuzz/random'

/** By how many events a read brings, or by where in the bytes it ends. */
export const CUTS = ['1', '64', '65', '1000', 'all', 'bytes', 'random', 'characters', 'line ends'] as const
export type Cut = (typeof CUTS)[number]

const encoder = new TextEncoder()
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
const FIRST_OF_SEVERAL = 0xc0
/** So many bytes are handed out one by one, the rest in one piece: each read costs. */
const MAX_SINGLE_BYTES = 3_000

/** The reads that bring `events`, each of which is the text of one. */
export function cutInto(cut: Cut, events: readonly string[], random: Random): Uint8Array[] {
  const bytes = encoder.encode(events.join(''))
  switch (cut) {
    case 'all':
      return [bytes]
    case 'bytes':
      return cutAt(bytes, (index) => index < MAX_SINGLE_BYTES)
    case 'random':
      return cutAt(bytes, () => random.once(40))
    // After the first byte of a character of several.
    case 'characters':
      return cutAt(bytes, (index) => (bytes[index - 1] ?? 0) >= FIRST_OF_SEVERAL)
    // Between CR and LF, or where there are none, between the two LFs that end an event.
    case 'line ends':
      return cutAt(
        bytes,
        (index) => bytes[index] === LINE_FEED && [CARRIAGE_RETURN, LINE_FEED].includes(bytes[index - 1] ?? 0),
      )
    default:
      return groups(events, Number(cut)).map((group) => encoder.encode(group.join('')))
  }
}

function cutAt(bytes: Uint8Array, isEnd: (index: number) => boolean): Uint8Array[] {
  const reads: Uint8Array[] = []
  let start = 0
  for (let index = 1; index <= bytes.length; index++) {
    if (index < bytes.length && !isEnd(index)) continue
    reads.push(bytes.slice(start, index))
    start = index
  }
  return reads
}

function groups(events: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(events.length / size) }, (_, index) =>
    events.slice(index * size, (index + 1) * size),
  )
}
