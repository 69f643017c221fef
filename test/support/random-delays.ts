/**
 * Random delays, for `bun run test --delays`: answers of Redis and Postgres arrive late, in their order, and timers of every worker fire
 * late. A test that depends on which of two workers is faster fails with some seed.
 */
import { Socket } from 'node:net'
import { OUR_ENVIRONMENT } from './bare-environment'
import { SEED } from './seed'

/** The variable that asks for delays. */
export const DELAYS_VARIABLE = 'TEST_DELAYS'

/** One in so many answers and timers is late, by at most so many milliseconds. */
const ONE_IN = 8
const MAX_DELAY_MS = 40
/** Constants of the generator mulberry32, as published. */
const STEP = 0x6d2b79f5
const WORD = 2 ** 32

type Push = typeof Socket.prototype.push

/** Numbers in [0, 1), always the same for a seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + STEP) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / WORD
  }
}

/** Delays answers and timers from now on, where the runner asks for it. */
export function delayAtRandom(): void {
  if (OUR_ENVIRONMENT[DELAYS_VARIABLE] === undefined) return
  const random = createRandom(SEED)
  const delay = () => (random() * ONE_IN < 1 ? Math.ceil(random() * MAX_DELAY_MS) : 0)
  const { setTimeout } = globalThis
  delayAnswers(delay, setTimeout)
  // Bun marks the function while a test's own clock decides which timers are due.
  const isFake = () => 'clock' in globalThis.setTimeout
  const late = (work: Parameters<typeof setTimeout>[0], milliseconds = 0, ...rest: unknown[]) =>
    setTimeout(work, Number(milliseconds) + (isFake() ? 0 : delay()), ...rest)
  globalThis.setTimeout = Object.assign(late, setTimeout)
}

/** What a socket reads waits for what it has read before. */
function delayAnswers(delay: () => number, setTimeout: typeof globalThis.setTimeout): void {
  const push: Push = Socket.prototype.push
  const waiting = new WeakMap<Socket, Parameters<Push>[]>()
  Socket.prototype.push = function (this: Socket, ...read) {
    const queue = waiting.get(this)
    if (queue) return queue.push(read) > 0
    const milliseconds = delay()
    if (milliseconds === 0) return push.apply(this, read)
    const first = [read]
    waiting.set(this, first)
    setTimeout(() => {
      waiting.delete(this)
      for (const one of first) push.apply(this, one)
    }, milliseconds)
    return true
  }
}
