/**
 * The load process of a soak: many clients at a steady rate until it is told to stop, then it waits for those under way. Where it
 * is paused as a whole it goes on afterwards as before, and makes up for nothing.
 */
import { linesOf } from '@bench/load/lines'
import { createSoakClient } from './client'
import { burstStep, nextStep, type SoakKeys } from './traffic'

/** The first line that the process reads; any other ends the load. */
export type SoakJob = { port: number; keys: SoakKeys; ratePerSecond: number }

/** What it writes every few seconds: all since its start, by kind of client and ending. */
export type SoakReport = {
  isLast: boolean
  underWay: number
  endings: Record<string, Record<string, number>>
  /** Answers that their clients should not have had: kind, status and ending. */
  unexpected: Record<string, number>
}

const REPORT_MS = 2_000
const BURST_EVERY_MS = 60_000
const BURST = 100
/** Beyond it nobody else is sent: the machine is too slow for the rate. */
const MAX_UNDER_WAY = 2_000
const DRAIN_MS = 100_000
const POLL_MS = 50

const lines = linesOf(Bun.stdin.stream())
const first = await lines.next()
const job = JSON.parse(first.value ?? '') as SoakJob
const client = createSoakClient(job.port)
const endings: SoakReport['endings'] = {}
const unexpected: Record<string, number> = {}
let underWay = 0
let isStopping = false

async function play({ name, request, manner, expected }: ReturnType<typeof nextStep>): Promise<void> {
  if (underWay >= MAX_UNDER_WAY) return count(name, 'not sent')
  underWay += 1
  const { status, how } = await client.send(request, manner)
  underWay -= 1
  const ending = how === 'whole' ? String(status) : `${status === 0 ? '' : `${status} `}${how}`
  count(name, ending)
  if (expected === 'any' || (how === 'whole' && expected.includes(status))) return
  const answer = `${name}: ${ending}`
  unexpected[answer] = (unexpected[answer] ?? 0) + 1
}

function count(name: string, ending: string): void {
  endings[name] ??= {}
  const own = endings[name]
  own[ending] = (own[ending] ?? 0) + 1
}

/** Clients come by chance, so many a second on average. Each is due that long after the one before was sent, not after it was due. */
function sendNext(): void {
  if (isStopping) return
  void play(nextStep(job.port, job.keys))
  setTimeout(sendNext, (-Math.log(1 - Math.random()) * 1000) / job.ratePerSecond)
}

function burst(): void {
  if (isStopping) return
  for (let index = 0; index < BURST; index++) void play(burstStep(job.port, job.keys))
  setTimeout(burst, BURST_EVERY_MS)
}

function report(isLast: boolean): void {
  const line: SoakReport = { isLast, underWay, endings, unexpected }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

sendNext()
setTimeout(burst, BURST_EVERY_MS)
const reporting = setInterval(() => report(false), REPORT_MS)
await lines.next()
isStopping = true
const deadlineMs = performance.now() + DRAIN_MS
while (underWay > 0 && performance.now() < deadlineMs) await Bun.sleep(POLL_MS)
clearInterval(reporting)
client.close()
report(true)
process.exit(0)
