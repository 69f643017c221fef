/** What a paid request may cost, as ratios inside one run: the goals that the gateway is built towards, and how near it is. */
import { type FigureName, OURS, type Results, seriesOf } from './results'
import { COLD, FLUSHER, IDLE, MEMORY, OPEN_STREAMS, START, STOPPED } from './scenario-names'
import { ratioSpread, type Spread, spreadOf } from './statistics'

type Place = { peer: string; scenario: string }

/** A figure at one place, beside the same figure at another (a ratio) or alone. */
type Goal = {
  id: string
  title: string
  figure: FigureName
  of: Place
  beside?: Place
  better: 'lower' | 'higher'
  goal: number
  unit: string
}

/** `reached` is undefined where it could not be measured; `why` says so. */
export type Standing = {
  goal: Goal
  spread: Spread | undefined
  /** The same figure of the straight line that is our own floor; undefined where it does not have it. */
  floor: Spread | undefined
  isReached: boolean | undefined
  why?: string
}

const BARE = 'bare Bun'
const BIFROST = 'Bifrost'
const LEAN = 'lean'

function ours(scenario: string): Place {
  return { peer: OURS, scenario }
}

/** How many times a figure of ours is that of another peer; at the same scenario unless told otherwise. */
function times(
  id: string,
  title: string,
  figure: FigureName,
  scenario: string,
  peer: string,
  goal: number,
  better: Goal['better'] = 'lower',
  peerScenario = scenario,
): Goal {
  return { id, title, figure, of: ours(scenario), beside: { peer, scenario: peerScenario }, better, goal, unit: '×' }
}

function alone(id: string, title: string, figure: FigureName, scenario: string, goal: number, unit: string): Goal {
  return { id, title, figure, of: ours(scenario), better: 'lower', goal, unit }
}

/** How many times a request at this gateway run in another way costs what it costs run plainly. */
function besideOurs(id: string, title: string, peer: string, goal: number): Goal {
  const [of, beside] = [{ peer, scenario: 'json-64' }, ours('json-64')]
  return { id, title, figure: 'cpuMicroseconds', of, beside, better: 'lower', goal, unit: '×' }
}

/** In the order of the report. */
export const GOALS: readonly Goal[] = [
  times('cpu-json', 'JSON 1 KB, 64 connections: CPU beside bare Bun', 'cpuMicroseconds', 'json-64', BARE, 3.5),
  times('all-bifrost', 'the same with Redis and Postgres, beside Bifrost', 'allMicroseconds', 'json-64', BIFROST, 0.9),
  times('rate-bifrost', 'requests/s beside Bifrost', 'requestsPerSecond', 'json-64', BIFROST, 1.1, 'higher'),
  alone('cpu-redis', 'CPU in Redis per paid request', 'redisMicroseconds', 'json-64', 85, 'µs'),
  alone('log-redis', "bytes in Redis' append-only file per paid request", 'redisLogBytes', 'json-64', 2_000, 'B'),
  alone('cpu-postgres', 'CPU in Postgres per paid request', 'postgresMicroseconds', 'json-64', 15, 'µs'),
  times('one-bifrost', '1 connection, p50 beside Bifrost', 'p50Ms', 'json-1', BIFROST, 1.35),
  times('one-bare', '1 connection, p50 beside bare Bun', 'p50Ms', 'json-1', BARE, 3.2),
  times('open-p99', '500 requests/s open loop, p99 beside bare Bun', 'p99Ms', 'open-500', BARE, 2),
  times(
    'first-token-1',
    'first token of one stream, p50 beside Bifrost',
    'firstTokenP50Ms',
    'streams-1',
    BIFROST,
    1.35,
  ),
  times('first-token', 'first token at 64 streams, p50 beside Bifrost', 'firstTokenP50Ms', 'streams-64', BIFROST, 1),
  times('first-token-256', 'the same at 256 streams', 'firstTokenP50Ms', 'streams-256', BIFROST, 0.5),
  times(
    'piece-64',
    'CPU per piece with stores, 64 streams, beside Bifrost',
    'allMicroseconds',
    'streams-64',
    BIFROST,
    0.7,
  ),
  times('piece-256', 'the same at 256 streams', 'allMicroseconds', 'streams-256', BIFROST, 0.7),
  times(
    'piece-64-bare',
    'CPU per piece with stores, 64 streams, beside bare Bun',
    'allMicroseconds',
    'streams-64',
    BARE,
    2,
  ),
  times('piece-256-bare', 'the same at 256 streams', 'allMicroseconds', 'streams-256', BARE, 2),
  times(
    ...(['piece-other', 'CPU per piece, other format, beside bare Bun in its own', 'cpuMicroseconds'] as const),
    ...(['other-streams-64', BARE, 2.4, 'lower', 'streams-64'] as const),
  ),
  times('prompt-100k', 'prompt of 100 KB: CPU beside bare Bun', 'cpuMicroseconds', 'prompt-100k', BARE, 4),
  times('prompt-1m', 'prompt of 1 MB: CPU beside bare Bun', 'cpuMicroseconds', 'prompt-1m', BARE, 3),
  alone('stream-memory', 'memory of an open stream', 'kilobytesPerStream', OPEN_STREAMS, 26, 'KB'),
  alone('stream-delay', 'worst delay of a piece with all streams open', 'worstDelayMs', OPEN_STREAMS, 25, 'ms'),
  alone('memory-after', 'memory a minute after, above that before', 'memoryLeftShare', MEMORY, 0.1, 'of it'),
  alone('stopped-reader', 'memory of a client that stops reading', 'megabytesPerReader', STOPPED, 1, 'MB'),
  alone('idle-cpu', 'idle: share of a core', 'cpuPercent', IDLE, 0.4, '%'),
  alone('idle-redis', 'idle: Redis commands', 'redisCommandsPerSecond', IDLE, 15, '/s'),
  alone('cold-refused', 'cold keys refused', 'refused', COLD, 0, 'keys'),
  {
    ...{ id: 'cold-rate', title: 'cold keys answered', figure: 'requestsPerSecond', of: ours(COLD) },
    ...{ better: 'higher', goal: 2_000, unit: '/s' },
  },
  {
    ...{ id: 'flusher', title: 'flusher, neighbours of different accounts', figure: 'recordsPerSecond' },
    ...{ of: ours(FLUSHER), better: 'higher', goal: 25_000, unit: 'records/s' },
  },
  besideOurs('second-process', 'two processes: CPU per request beside one', 'svc-gateway × 2', 1.05),
  besideOurs('traced', 'every request traced: CPU beside none', 'svc-gateway traced', 1.15),
  alone('start', 'start to the first paid answer, from source', 'startMs', START, 300, 'ms'),
  {
    ...alone('start-executable', 'the same of the executable', 'startMs', START, 300, 'ms'),
    of: { peer: 'svc-gateway executable', scenario: START },
  },
]

/** How near the results are to each goal. */
export function standings(results: Results): Standing[] {
  return GOALS.map((goal) => standingOf(results, goal))
}

function standingOf(results: Results, goal: Goal): Standing {
  const { of, beside, figure } = goal
  const floor = floorOf(results, goal)
  const missing = [of, ...(beside ? [beside] : [])].find((place) => !seriesAt(results, place, figure))
  if (missing) return { goal, floor, spread: undefined, isReached: undefined, why: whyMissing(results, missing) }
  const series = seriesAt(results, of, figure) ?? []
  const spread = beside ? ratioSpread(series, seriesAt(results, beside, figure) ?? []) : spreadOf(series)
  if (!spread) return { goal, floor, spread, isReached: undefined, why: 'no round of it gave a figure' }
  return { goal, floor, spread, isReached: isAsGood(goal, spread.median, goal.goal) }
}

function floorOf(results: Results, { of, beside, figure }: Goal): Spread | undefined {
  const series = of.peer === OURS ? seriesAt(results, { ...of, peer: LEAN }, figure) : undefined
  if (!series || !beside) return series && spreadOf(series)
  return ratioSpread(series, seriesAt(results, beside, figure) ?? [])
}

/** Whether `value` is at least as good as `other`, in the goal's direction. */
export function isAsGood({ better }: Pick<Goal, 'better'>, value: number, other: number): boolean {
  return better === 'lower' ? value <= other : value >= other
}

function seriesAt(results: Results, { peer, scenario }: Place, figure: FigureName) {
  return seriesOf(results.rows, scenario, peer, figure)
}

function whyMissing(results: Results, { peer, scenario }: Place): string {
  const entry = results.peers.find(({ name }) => name === peer)
  if (entry?.absent !== undefined) return `${peer} took no part`
  return entry ? `${scenario} was not part of this run` : `${peer} was not part of this run`
}
