/** Measures each target's time until its answer begins: the average and the 99th percentile. Old values lose weight. */
import type { Clock } from '@/lib/clock'
import type { IsGone } from './renewal'

export interface Latencies {
  note(id: string, stream: boolean, milliseconds: number): void
  /** The average. Undefined without recent measurements. */
  usual(id: string, stream: boolean): number | undefined
  /** The 99th percentile. Undefined without enough recent measurements here or at another gateway. */
  slowest(id: string, stream: boolean): number | undefined
  /** Adopts another gateway's measurement, used while this process has too few. */
  adopt(id: string, stream: boolean, slowestMs: number): void
  forget(isGone: IsGone): void
  /** New measurements since the last call, for the other gateways. */
  takeNews(): { id: string; stream: boolean; slowestMs: number }[]
}

/** The weight of the latest call in the average. */
const SMOOTHING = 0.2
/** An older measurement is ignored, so that a slow target gets another chance. */
export const FORGOTTEN_AFTER_MS = 10 * 60_000
/** The maximum and minimum numbers of calls for the percentile. With 100 calls, the slowest call doesn't count. */
const SAMPLES = 100
const MIN_KNOWN_SAMPLES = 5
/** The percentile is updated after this many calls. */
const RENEWED_EVERY = 10

type Entry = {
  averageMs: number
  atMs: number
  samples: Float64Array
  count: number
  slowestMs: number
  hasNews: boolean
}

type Adopted = { slowestMs: number; atMs: number }

/** Starts without measurements. Streams and complete answers are measured separately: a complete answer begins only when it is finished. */
export function createLatencies(clock: Clock): Latencies {
  const known = { streams: new Map<string, Entry>(), wholes: new Map<string, Entry>() }
  const adopted = { streams: new Map<string, Adopted>(), wholes: new Map<string, Adopted>() }
  const isRecent = (atMs: number, nowMs = clock.monotonic()) => nowMs - atMs <= FORGOTTEN_AFTER_MS

  function recent(id: string, stream: boolean, nowMs?: number): Entry | undefined {
    const entry = (stream ? known.streams : known.wholes).get(id)
    return entry && isRecent(entry.atMs, nowMs) ? entry : undefined
  }

  return {
    note(id, stream, milliseconds) {
      const nowMs = clock.monotonic()
      const entry = recent(id, stream, nowMs) ?? emptyEntry(milliseconds)
      if (entry.count === 0) (stream ? known.streams : known.wholes).set(id, entry)
      entry.averageMs += SMOOTHING * (milliseconds - entry.averageMs)
      entry.atMs = nowMs
      entry.samples[entry.count++ % SAMPLES] = milliseconds
      if (entry.count < RENEWED_EVERY || entry.count % RENEWED_EVERY === 0) renewSlowest(entry)
      else entry.slowestMs = Math.max(entry.slowestMs, milliseconds)
    },
    usual: (id, stream) => recent(id, stream)?.averageMs,
    slowest(id, stream) {
      const own = recent(id, stream)
      if (own && own.count >= MIN_KNOWN_SAMPLES) return own.slowestMs
      const others = (stream ? adopted.streams : adopted.wholes).get(id)
      return others && isRecent(others.atMs) ? others.slowestMs : undefined
    },
    adopt(id, stream, slowestMs) {
      ;(stream ? adopted.streams : adopted.wholes).set(id, { slowestMs, atMs: clock.monotonic() })
    },
    forget(isGone) {
      for (const entries of [known.streams, known.wholes, adopted.streams, adopted.wholes])
        for (const id of entries.keys()) if (isGone(id)) entries.delete(id)
    },
    takeNews: () => [...newsOf(known.streams, true), ...newsOf(known.wholes, false)],
  }
}

function emptyEntry(averageMs: number): Entry {
  return { averageMs, atMs: 0, samples: new Float64Array(SAMPLES), count: 0, slowestMs: 0, hasNews: false }
}

function renewSlowest(entry: Entry): void {
  const { samples } = entry
  let slowest = 0
  let second = 0
  for (let index = 0; index < samples.length; index++) {
    const milliseconds = samples[index] ?? 0
    second = Math.max(second, Math.min(slowest, milliseconds))
    slowest = Math.max(slowest, milliseconds)
  }
  entry.slowestMs = entry.count < SAMPLES ? slowest : second
  entry.hasNews = entry.count >= MIN_KNOWN_SAMPLES
}

function newsOf(entries: Map<string, Entry>, stream: boolean): ReturnType<Latencies['takeNews']> {
  const news: ReturnType<Latencies['takeNews']> = []
  for (const [id, entry] of entries) {
    if (entry.hasNews) news.push({ id, stream, slowestMs: entry.slowestMs })
    entry.hasNews = false
  }
  return news
}
