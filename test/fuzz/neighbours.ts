/**
 * Bad neighbours: one customer does their worst with one of the things that all share, and another one, who only wants answers, must
 * hardly notice.
 */
import { NEIGHBOURS, type Neighbour } from './bad-neighbours'
import type { FuzzUser, GatewayProcess } from './world'

/** How much slower the slowest hundredth of the other's answers may get. */
const MOST_TIMES = 3
/** How long each neighbour goes on. */
const SPAN_MS = 8_000
/** How many answers the other one waits for at once. */
const WANTED_AT_ONCE = 4
/** Between two of a neighbour's requests: the clients of both have the same processors as the gateway. */
const PAUSE_MS = 25

/**
 * Has each neighbour do its worst in turn. Returns what the other one noticed. What the machine does beside makes answers slow as well:
 * whoever seems too bad does it once more, right after the other one was alone, and is too bad only if they are so both times.
 */
export async function judgeNeighbours(gateway: GatewayProcess, note: (line: string) => void): Promise<string[]> {
  const { url, users } = gateway.world
  const [good, ...others] = users
  if (!good) return ['there are no neighbours']
  const faults: string[] = []
  await answersFor(url, good, 1_000)
  let alone = await aloneFor(url, good, note)
  for (const [index, neighbour] of Object.values(NEIGHBOURS).flat().entries()) {
    const { name, usd } = neighbour
    // Each begins with all that an account may have, as far as there are accounts.
    const person = others[index % others.length] ?? good
    const user = usd === undefined ? person : { ...person, key: await gateway.customer(usd) }
    let beside = await besideOf(gateway, neighbour, { good, user }, note)
    if (isTooSlow(beside, alone)) {
      alone = await aloneFor(url, good, note)
      beside = await besideOf(gateway, neighbour, { good, user }, note)
    }
    if (beside.failed > 0) faults.push(`beside ${name}: ${beside.failed} of another customer's requests failed`)
    if (isTooSlow(beside, alone)) {
      faults.push(`beside ${name}: ${Math.round(beside.slowestMs)} ms, alone ${Math.round(alone.slowestMs)} ms`)
    }
  }
  return faults
}

const isTooSlow = (beside: Answers, alone: Answers) => beside.slowestMs > MOST_TIMES * alone.slowestMs

async function aloneFor(url: string, good: FuzzUser, note: (line: string) => void): Promise<Answers> {
  const alone = await answersFor(url, good, SPAN_MS)
  note(`alone: ${describe(alone)}`)
  return alone
}

async function besideOf(
  gateway: GatewayProcess,
  { name, atOnce, annoy }: Neighbour,
  { good, user }: { good: FuzzUser; user: FuzzUser },
  note: (line: string) => void,
): Promise<Answers> {
  const { url } = gateway.world
  let isOver = false
  const annoying = Array.from({ length: atOnce }, async (_, lane) => {
    for (let turn = lane; !isOver; turn++) {
      await annoy(url, user, turn).catch(() => undefined)
      await Bun.sleep(PAUSE_MS)
    }
  })
  const beside = await answersFor(url, good, SPAN_MS)
  isOver = true
  await Promise.all(annoying)
  const { stallMs } = await gateway.vitals()
  note(`beside ${name}: ${describe(beside)}, longest work ${Math.round(stallMs)} ms`)
  return beside
}

type Answers = { count: number; failed: number; slowestMs: number }

/** Asks and asks again for so long. `slowestMs` is what all but one in a hundred stay below. */
async function answersFor(url: string, { key }: FuzzUser, spanMs: number): Promise<Answers> {
  const untilMs = performance.now() + spanMs
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'svc/patient', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 })
  const tookMs: number[] = []
  let failed = 0
  async function ask(): Promise<void> {
    while (performance.now() < untilMs) {
      const startedMs = performance.now()
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.text()
      tookMs.push(performance.now() - startedMs)
      if (response.status !== 200) failed++
    }
  }
  await Promise.all(Array.from({ length: WANTED_AT_ONCE }, ask))
  tookMs.sort((one, other) => one - other)
  return { count: tookMs.length, failed, slowestMs: tookMs[Math.floor(tookMs.length * 0.99)] ?? 0 }
}

function describe({ count, failed, slowestMs }: Answers): string {
  return `${count} answers, ${failed} failed, p99 ${Math.round(slowestMs)} ms`
}
