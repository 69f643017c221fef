import { readdirSync, readFileSync } from 'node:fs'
import type { Registry } from 'prom-client'
import Histogram from 'prom-client/lib/histogram.js'
import { expose, labelled, reading } from './series'
import { lastWorkMs, longestWorkSince, onNextWork } from './work-log'

const LAG_SAMPLE_MS = 100
/** After this time without a new request, the lag is sampled less often, since wake-ups are most of an idle process's cost. */
const QUIET_AFTER_MS = 10_000
const QUIET_SAMPLE_MS = 1_000
/** A longer stall is reported as a fault. */
const STALL_MS = 200
const LAG_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const MICROSECONDS_PER_SECOND = 1e6

/** Called when the event loop was blocked, with the current request's `url`, if any. Returns its route. */
type OnStall = (url: string | undefined, milliseconds: number) => string

/** The callback for stalls, and all routes that it may return. */
export type StallWatch = { onStall: OnStall; routes(): readonly string[] }

const UNWATCHED: StallWatch = { onStall: () => 'unknown', routes: () => [] }

/** The process's own metrics, under the usual names (the library's set is for V8). The returned function stops sampling the loop's lag. */
export function exposeProcess(registry: Registry, stalls: StallWatch = UNWATCHED): () => void {
  const startSeconds = Math.round((Date.now() - process.uptime() * 1000) / 1000)
  expose(
    registry,
    reading('process_cpu_seconds_total', 'Processor time, user and system.', () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / MICROSECONDS_PER_SECOND
    }),
    reading('process_start_time_seconds', 'Start time, seconds since 1970.', () => startSeconds),
    reading('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    reading('process_heap_used_bytes', 'Memory in use by objects.', () => process.memoryUsage().heapUsed),
    reading('process_open_fds', 'Open files and sockets; 0 where the system does not tell.', openFiles),
    reading('process_max_fds', 'Files and sockets that it may open; 0 where the system does not tell.', maxFiles),
  )
  return sampleLag(registry, stalls)
}

function sampleLag(registry: Registry, { onStall, routes }: StallWatch): () => void {
  const lag = new Histogram({
    name: 'svc_event_loop_lag_seconds',
    help: 'How late a timer fired: ten times a second, or once where no request has come for ten seconds.',
    buckets: LAG_BUCKETS,
    registers: [registry],
  })
  const stalls = new Map<string, number>()
  expose(
    registry,
    labelled(
      'svc_event_loop_stalls_total',
      'How often the event loop stood still for more than 200 ms, by the route it had taken up.',
      'route',
      () => {
        for (const route of routes()) stalls.set(route, stalls.get(route) ?? 0)
        return stalls
      },
    ),
  )
  let lastMs = 0
  let pauseMs = 0
  let timer: Timer | undefined

  function sample(): void {
    const nowMs = performance.now()
    const lateMs = Math.max(0, nowMs - lastMs - pauseMs)
    lag.observe(lateMs / 1000)
    if (lateMs > STALL_MS) {
      const route = onStall(longestWorkSince(lastMs), lateMs)
      stalls.set(route, (stalls.get(route) ?? 0) + 1)
    }
    const isQuiet = nowMs - lastWorkMs() > QUIET_AFTER_MS
    pauseFor(isQuiet ? QUIET_SAMPLE_MS : LAG_SAMPLE_MS)
    // The first request ends the quiet time: from then on, every stall counts.
    if (isQuiet) onNextWork(() => pauseFor(LAG_SAMPLE_MS))
  }

  function pauseFor(milliseconds: number): void {
    lastMs = performance.now()
    pauseMs = milliseconds
    clearTimeout(timer)
    timer = setTimeout(sample, pauseMs)
    // The timer doesn't keep the process alive.
    timer.unref()
  }

  pauseFor(LAG_SAMPLE_MS)
  return () => clearTimeout(timer)
}

function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}

function maxFiles(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
