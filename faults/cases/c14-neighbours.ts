/** One customer takes as much as they can get of what all share: another one hardly notices. */
import type { Fault, Stage } from '@faults/fault'
import type { Exchange } from '@faults/world/exchange'
import { answerJson, BILLED_INPUT_TOKENS, completion, usageOf, wordOf } from '@faults/world/scripts'
import type { SingleWorld } from '@faults/world/world'
import { refusing, sendScripted } from './scripted'

const MIB = 1024 * 1024
/** What the store has beyond what it holds: a third of what the neighbours want kept. */
const FREE_BYTES = 24 * MIB
const NEIGHBOURS = 12
const KEPT_BYTES = 900_000
const CALM_AT_ONCE = 4
const CALM_ANSWERS = 100
/** How much slower the slowest hundredth of the other's answers may get. Judged in the long form only. */
const MOST_TIMES = 3

type Worst = { what: string; once(stage: Stage<SingleWorld>, neighbour: number, turn: number): Promise<unknown> }

export const c14: Fault = {
  id: 'C14',
  world: 'single',
  isQuick: true,
  title: `${NEIGHBOURS} accounts fill a Redis of ${FREE_BYTES / MIB} MiB with kept answers; one account is limited by the provider without pause`,
  promise: 'Another customer gets every answer, and waits for none three times as long as alone.',
  async run(stage) {
    const { admin } = stage.world.redis
    const accounts = await Promise.all(Array.from({ length: NEIGHBOURS }, () => stage.customer(0.01)))
    const worst: Worst[] = [
      {
        what: 'kept answers',
        once: (_, neighbour, turn) => {
          const customer = accounts[neighbour]
          const wish = { words: 1, maxTokens: 10, idempotencyKey: `kept-${neighbour}-${turn}` }
          return customer ? sendScripted(stage, answerAtLength, { ...wish, customer }) : Promise.resolve()
        },
      },
      {
        what: 'rate limits of the provider',
        once: (_, neighbour) => {
          const customer = neighbour === 0 ? accounts[0] : undefined
          return customer ? sendScripted(stage, refusing(429), { customer, maxTokens: 10 }) : Bun.sleep(10)
        },
      },
    ]
    const alone = await calmAnswers(stage)
    const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1])
    await stage.inject(() => admin.config('SET', 'maxmemory', String(used + FREE_BYTES)))
    for (const { what, once } of worst) {
      let isOver = false
      const lanes = accounts.map(async (_, neighbour) => {
        for (let turn = 0; !isOver; turn++) await once(stage, neighbour, turn)
      })
      const beside = await calmAnswers(stage)
      isOver = true
      await Promise.all(lanes)
      const text = `beside ${what} p99 ${Math.round(beside.p99Ms)} ms, alone ${Math.round(alone.p99Ms)} ms`
      stage.note(`C14: ${text}`)
      stage.expect(beside.failed === 0, `${beside.failed} answers failed beside ${what}`)
      stage.expect(stage.isQuick || beside.p99Ms <= MOST_TIMES * alone.p99Ms, text)
    }
    await stage.lift(() => admin.config('SET', 'maxmemory', '0'))
  },
}

async function answerAtLength({ call, answer, bill }: Exchange): Promise<void> {
  bill('input', BILLED_INPUT_TOKENS)
  bill('output', 1)
  const whole = { ...completion(wordOf(call.marker, 0), usageOf(1)), padding: 'x'.repeat(KEPT_BYTES) }
  await answerJson(answer, 200, whole)
}

/** Answers to somebody who wants a few at a time, and what all but one in a hundred of them took. */
async function calmAnswers(stage: Stage<SingleWorld>): Promise<{ failed: number; p99Ms: number }> {
  const customer = await stage.customer()
  const tookMs: number[] = []
  let failed = 0
  const lanes = Array.from({ length: CALM_AT_ONCE }, async () => {
    for (let answer = 0; answer < CALM_ANSWERS / CALM_AT_ONCE; answer++) {
      const seen = await stage.send({ customer, words: 2 })
      tookMs.push(seen.durationMs)
      if (seen.ending !== 'complete') failed++
    }
  })
  await Promise.all(lanes)
  tookMs.sort((one, other) => one - other)
  return { failed, p99Ms: tookMs[Math.ceil(tookMs.length * 0.99) - 1] ?? 0 }
}
