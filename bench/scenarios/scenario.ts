/** The traffic that every peer is put under in turn: what is sent, how, for how long, and what a figure is counted per. */
import type { Job, Shot } from '@bench/load/job'
import type { Traffic } from '@bench/peers/peer'
import type { Mode } from '@bench/report/scenario-names'

export type Scenario = {
  id: string
  title: string
  /** Those that it is part of. What isn't in `guard` is measured in only the first round of a full run. */
  modes: readonly Mode[]
  traffic: Traffic
  /** What processor time is counted per. */
  unit: 'request' | 'chunk'
  /** The job of one measurement. */
  job(shot: Shot, windowMs: number): Job
}

const KIB = 1024
const JSON_TRAFFIC: Traffic = {
  ...{ client: 'chat-completions', provider: 'chat-completions', model: 'json', stream: false },
  promptBytes: KIB,
}
/** A hundred pieces, ten milliseconds apart. */
const STREAM_TRAFFIC: Traffic = { ...JSON_TRAFFIC, model: 'stream-100-10', stream: true }
const STREAM_MS = 1_000
const OPEN_RATE = 500
const EVERY: readonly Mode[] = ['quick', 'guard', 'full']
const NOT_QUICK: readonly Mode[] = ['guard', 'full']
const FULL: readonly Mode[] = ['full']

function closed(connections: number) {
  return (shot: Shot, windowMs: number): Job => ({
    ...{ kind: 'closed', shot, connections, durationMs: windowMs, rampMs: 0 },
  })
}

/** Streams begin spread over the length of one, so that each moment sees some of them begin and some end. */
function streaming(connections: number) {
  return (shot: Shot, windowMs: number): Job => ({
    ...{ kind: 'closed', shot, connections, durationMs: windowMs, rampMs: Math.min(STREAM_MS, windowMs) },
  })
}

function json(id: string, title: string, connections: number, more: Partial<Scenario> = {}): Scenario {
  return { id, title, modes: EVERY, traffic: JSON_TRAFFIC, unit: 'request', job: closed(connections), ...more }
}

function streams(id: string, title: string, connections: number, more: Partial<Scenario> = {}): Scenario {
  return { id, title, modes: EVERY, traffic: STREAM_TRAFFIC, unit: 'chunk', job: streaming(connections), ...more }
}

/** In the order of the report. */
export const SCENARIOS: readonly Scenario[] = [
  json('json-1', 'JSON, 1 KB prompt, 1 connection', 1),
  json('json-64', 'JSON, 1 KB prompt, 64 connections', 64),
  json('json-512', 'JSON, 1 KB prompt, 512 connections', 512, { modes: FULL }),
  json('json-64-messages', 'the same in `messages`, 64 connections', 64, {
    ...{ modes: FULL, traffic: { ...JSON_TRAFFIC, client: 'messages', provider: 'messages' } },
  }),
  json('json-64-generate', 'the same in `generate-content`, 64 connections', 64, {
    ...{ modes: FULL, traffic: { ...JSON_TRAFFIC, client: 'generate-content', provider: 'generate-content' } },
  }),
  json('other-json-64', 'JSON, `chat-completions` client at a `messages` provider, 64 connections', 64, {
    traffic: { ...JSON_TRAFFIC, provider: 'messages' },
  }),
  json('other-json-64-back', 'JSON, `messages` client at a `chat-completions` provider, 64 connections', 64, {
    ...{ modes: FULL, traffic: { ...JSON_TRAFFIC, client: 'messages' } },
  }),
  json('prompt-100k', 'JSON, 100 KB prompt, 16 connections', 16, {
    traffic: { ...JSON_TRAFFIC, promptBytes: 100 * KIB },
  }),
  json('prompt-1m', 'JSON, 1 MB prompt, 8 connections', 8, {
    ...{ modes: NOT_QUICK, traffic: { ...JSON_TRAFFIC, promptBytes: KIB * KIB } },
  }),
  json('open-500', `JSON, 1 KB prompt, ${OPEN_RATE} requests/s whatever the answers do`, 0, {
    job: (shot, windowMs) => ({ kind: 'open', shot, ratePerSecond: OPEN_RATE, durationMs: windowMs }),
  }),
  streams('streams-1', 'one stream of 10 pieces, 10 ms apart, after another', 1, {
    ...{ modes: NOT_QUICK, traffic: { ...STREAM_TRAFFIC, model: 'stream-10-10' } },
  }),
  streams('streams-64', '64 streams of 100 pieces, 10 ms apart', 64),
  streams('streams-256', '256 streams of 100 pieces, 10 ms apart', 256, { modes: NOT_QUICK }),
  streams('other-streams-64', '64 streams, `chat-completions` client at a `messages` provider', 64, {
    traffic: { ...STREAM_TRAFFIC, provider: 'messages' },
  }),
]
