/**
 * Bad neighbours: one customer does their worst with one of the things that all share, and another one, who only wants answers, must
 * hardly notice.
 */
import { join } from 'node:path'
import { NEIGHBOURS, type Neighbour } from './bad-neighbours'
import type { Answers } from './good-customer'
import type { FuzzUser, GatewayProcess } from './world'

/** How much slower the slowest hundredth of the other's answers may get. */
const MOST_TIMES = 3
/** How long each neighbour goes on. */
const SPAN_MS = 8_000
/** Between two of a neighbour's requests: its client has the same processors as the gateway. */
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
  const customer = startCustomer(url, good)
  await customer.answers(1_000)
  let alone = await aloneFor(customer, note)
  for (const [index, neighbour] of Object.values(NEIGHBOURS).flat().entries()) {
    const { name, usd } = neighbour
    // Each begins with all that an account may have, as far as there are accounts.
    const person = others[index % others.length] ?? good
    const user = usd === undefined ? person : { ...person, key: await gateway.customer(usd) }
    let beside = await besideOf(gateway, neighbour, { customer, user }, note)
    if (isTooSlow(beside, alone)) {
      alone = await aloneFor(customer, note)
      beside = await besideOf(gateway, neighbour, { customer, user }, note)
    }
    if (beside.failed > 0) faults.push(`beside ${name}: ${beside.failed} of another customer's requests failed`)
    if (isTooSlow(beside, alone)) {
      faults.push(`beside ${name}: ${Math.round(beside.slowestMs)} ms, alone ${Math.round(alone.slowestMs)} ms`)
    }
  }
  await customer.stop()
  return faults
}

const PROGRAM = join(import.meta.dir, 'good-customer.ts')

const isTooSlow = (beside: Answers, alone: Answers) => beside.slowestMs > MOST_TIMES * alone.slowestMs

async function aloneFor(customer: Customer, note: (line: string) => void): Promise<Answers> {
  const alone = await customer.answers(SPAN_MS)
  note(`alone: ${describe(alone)}`)
  return alone
}

async function besideOf(
  gateway: GatewayProcess,
  { name, atOnce, annoy }: Neighbour,
  { customer, user }: { customer: Customer; user: FuzzUser },
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
  const beside = await customer.answers(SPAN_MS)
  isOver = true
  await Promise.all(annoying)
  const { stallMs } = await gateway.vitals()
  note(`beside ${name}: ${describe(beside)}, longest work ${Math.round(stallMs)} ms`)
  return beside
}

/** Starts the other customer. Returns how it is asked for answers, and how it is ended. */
function startCustomer(url: string, { key }: FuzzUser) {
  let told: PromiseWithResolvers<Answers> | undefined
  const child = Bun.spawn(['bun', PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (answers: Answers) => told?.resolve(answers),
    onExit: () => told?.reject(new Error('the other customer is gone')),
  })
  return {
    answers(spanMs: number): Promise<Answers> {
      told = Promise.withResolvers<Answers>()
      child.send({ url, key, spanMs })
      return told.promise
    },
    async stop(): Promise<void> {
      child.disconnect()
      await child.exited
    },
  }
}

type Customer = ReturnType<typeof startCustomer>

function describe({ count, failed, slowestMs }: Answers): string {
  return `${count} answers, ${failed} failed, p99 ${Math.round(slowestMs)} ms`
}
