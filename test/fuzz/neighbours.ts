/**
 * Bad neighbours: one customer does their worst with one of the things that all share, and another one, who only wants answers, must
 * hardly notice.
 */
import { join } from 'node:path'
import type { Neighbour, NeighbourUser } from './annoyance'
import { NEIGHBOURS } from './bad-neighbours'
import type { Answers } from './good-customer'

/** How much slower the slowest hundredth of the other's answers may get. */
const MOST_TIMES = 3
/**
 * What else the machine does makes answers slow as well: so each is judged by the middle one of so many rounds, alone and beside it in
 * turn, and whoever seems too bad is too bad only if they are so once more.
 */
const ROUNDS = 3
/** How long the other one asks in each round, alone and beside the neighbour. */
const ALONE_MS = 4_000
const BESIDE_MS = 6_000
const WARM_UP_MS = 1_000
/** Between two of a neighbour's requests: its client has the same processors as the gateway. */
const PAUSE_MS = 25

/** A gateway and the people around it. */
export type Neighbourhood = {
  world: { url: string; users: readonly NeighbourUser[] }
  /** The longest standstill of its event loop since it was last asked, milliseconds. */
  vitals(): Promise<{ stallMs: number }>
  /** The key of a new account with so much credit. */
  customer(usd: string): Promise<string>
  /** A new person with much credit, and with conversations as long as one may be where they are wanted. */
  user(hasConversations: boolean): Promise<NeighbourUser>
}

/**
 * Has each neighbour do its worst in turn, or only those of the resource `only`, or whose name holds that; `rounds` times. Returns what
 * the other one noticed.
 */
export async function judgeNeighbours(
  gateway: Neighbourhood,
  note: (line: string) => void,
  only = '',
  rounds = ROUNDS,
): Promise<string[]> {
  const { url, users } = gateway.world
  const [good] = users
  if (!good) return ['there are no neighbours']
  const customer = startCustomer(url, good)
  await customer.answers(WARM_UP_MS)
  const faults: string[] = []
  for (const neighbour of chosen(only)) faults.push(...(await judge({ gateway, customer, neighbour, note, rounds })))
  await customer.stop()
  return faults
}

function chosen(only: string): readonly Neighbour[] {
  const all = new Map(Object.entries(NEIGHBOURS))
  return all.get(only) ?? [...all.values()].flat().filter(({ name }) => name.includes(only))
}

const PROGRAM = join(import.meta.dir, 'good-customer.ts')

type Playing = {
  gateway: Neighbourhood
  customer: Customer
  neighbour: Neighbour
  note(line: string): void
  rounds: number
}

async function judge(playing: Playing): Promise<string[]> {
  const first = await playRounds(playing)
  return first.length === 0 ? [] : playRounds(playing)
}

/** Returns what the other customer noticed. */
async function playRounds({ gateway, customer, neighbour, note, rounds }: Playing): Promise<string[]> {
  const alone: Answers[] = []
  const beside: Answers[] = []
  await gateway.vitals()
  for (let round = 0; round < rounds; round++) {
    // A new one each time: who has annoyed a minute ago has nothing left of what is counted by the minute.
    const user = await newcomer(gateway, neighbour)
    alone.push(await customer.answers(ALONE_MS))
    beside.push(await besideOf(gateway.world.url, neighbour, customer, user))
  }
  const { stallMs } = await gateway.vitals()
  const [aloneMs, besideMs] = [middle(alone), middle(beside)]
  const failed = beside.reduce((sum, answers) => sum + answers.failed, 0)
  const times = (besideMs / aloneMs).toFixed(1)
  note(
    `beside ${neighbour.name}: p99 ${times} ×, ${listed(beside)} ms, alone ${listed(alone)} ms, ${failed} failed, longest work ${Math.round(stallMs)} ms`,
  )
  const faults: string[] = []
  if (failed > 0) faults.push(`beside ${neighbour.name}: ${failed} of another customer's requests failed`)
  if (besideMs > MOST_TIMES * aloneMs) {
    faults.push(`beside ${neighbour.name}: ${Math.round(besideMs)} ms, alone ${Math.round(aloneMs)} ms`)
  }
  return faults
}

/** Whoever annoys: with much, or with what its case says. */
async function newcomer(gateway: Neighbourhood, { usd, resumes = false }: Neighbour): Promise<NeighbourUser> {
  const person = await gateway.user(resumes)
  return usd === undefined ? person : { ...person, key: await gateway.customer(usd) }
}

async function besideOf(url: string, neighbour: Neighbour, customer: Customer, user: NeighbourUser): Promise<Answers> {
  let isOver = false
  const annoying = Array.from({ length: neighbour.atOnce }, async (_, lane) => {
    for (let turn = lane; !isOver; turn++) {
      await neighbour.annoy(url, user, turn).catch(() => undefined)
      await Bun.sleep(PAUSE_MS)
    }
  })
  const beside = await customer.answers(BESIDE_MS)
  isOver = true
  await Promise.all(annoying)
  return beside
}

const ascending = (rounds: readonly Answers[]) =>
  rounds.map(({ slowestMs }) => slowestMs).sort((one, other) => one - other)
const middle = (rounds: readonly Answers[]) => ascending(rounds)[Math.floor(rounds.length / 2)] ?? 0
const listed = (rounds: readonly Answers[]) => rounds.map(({ slowestMs }) => Math.round(slowestMs)).join(', ')

/** Starts the other customer. Returns how it is asked for answers, and how it is ended. */
function startCustomer(url: string, { key }: Pick<NeighbourUser, 'key'>) {
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
