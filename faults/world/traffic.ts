/** The everyday load that every fault strikes: many clients, each with an account of its own, one request after another. */
import { until } from '@test/support/until'
import type { Customer } from './bank'
import { type Sighting, send } from './client'
import type { Random } from './random'
import { CLIENT_FORMATS, type Wish } from './request'

type TrafficOptions = {
  customers: readonly Customer[]
  random: Random
  /** Addresses of the gateways now; asked before each request. */
  addresses(): string[]
  onSighting(sighting: Sighting): void
  words?: [least: number, most: number]
  pauseMs?: [least: number, most: number]
}

export interface Traffic {
  /** Waits until every client has had an answer. */
  warm(): Promise<void>
  /** Lets the open requests finish and returns. */
  stop(): Promise<void>
}

const REST_MS: [number, number] = [0, 40]
/** A client that was refused or found nobody tries again, but not in a tight loop. */
const REFUSED_REST_MS = 100

/** Starts the load. */
export function startTraffic(options: TrafficOptions): Traffic {
  const { customers, random, words = [3, 25], pauseMs = [2, 12] } = options
  const answered = new Set<string>()
  let isStopping = false

  async function lane(customer: Customer, index: number): Promise<void> {
    for (let turn = index; !isStopping; turn++) {
      const urls = options.addresses()
      const wish: Wish = {
        customer,
        format: random.pick(CLIENT_FORMATS),
        stream: random.next() < 0.7,
        words: random.integer(...words),
        pauseMs: random.integer(...pauseMs),
      }
      const sighting = await send(urls[turn % urls.length] ?? '', wish)
      options.onSighting(sighting)
      if (sighting.ending === 'complete') answered.add(customer.accountId)
      await Bun.sleep(sighting.status === 200 ? random.integer(...REST_MS) : REFUSED_REST_MS)
    }
  }

  const lanes = customers.map(lane)
  return {
    warm: async () => {
      await until(() => answered.size === customers.length, 'every client to have an answer')
    },
    async stop() {
      isStopping = true
      await Promise.all(lanes)
    },
  }
}
