/** From a request to its hold: no provider is called before credit is held, and every hold ends exactly once. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { FACTS } from '@test/ledger/harness'
import { GatewayError } from '@/chat/error'
import { type Hold, type HoldDeps, withHold } from '@/gateway/hold/hold'
import type { HoldSize } from '@/gateway/hold/hold-size'
import { createKeyPermissions } from '@/gateway/hold/key-permissions'
import { Negotiation, type Offer, type Refusal } from '@/gateway/hold/terms'
import type { Charge } from '@/ledger/charge'
import type { Renewal, ReserveOutcome, ReserveRequest } from '@/ledger/outcomes'
import { nano } from '@/lib/money'

const PAYER = { accountId: 'acct_1', keyId: 'key_1' }
const LIMIT = { limit: 60, remaining: 59, resetMs: 1_000 }
const RESERVED: ReserveOutcome = {
  kind: 'reserved',
  available: nano(1),
  limits: { requests: LIMIT, tokens: LIMIT },
}
const SHORT: ReserveOutcome = { kind: 'insufficient', available: nano(5), held: nano(0), needed: nano(9) }
const SIZE: HoldSize = {
  amount: nano(900),
  inputCost: nano(30),
  bounds: { inputTokens: 100, outputTokens: 50 },
  rateTokens: 70,
  estimatedInput: 20,
}
const CHARGE: Extract<Charge, { kind: 'charge' }> = {
  kind: 'charge',
  cost: nano(40),
  usage: FACTS.usage,
  rule: 'usage',
  flags: [],
}

/** What happened, in order. */
let trace: string[]
let reserves: ReserveRequest[]
let outcomes: (ReserveOutcome | Error)[]
let renewal: (() => Renewal) | undefined
let deps: HoldDeps

beforeEach(() => {
  trace = []
  reserves = []
  outcomes = []
  renewal = undefined
  deps = {
    holdTtlMs: 20_000,
    crashPoint: () => undefined,
    ledger: {
      async reserve(request) {
        reserves.push(request)
        trace.push('reserve')
        const outcome = outcomes.shift() ?? RESERVED
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    },
    seesBalance: async () => true,
    settler: {
      async resolve(resolution) {
        const { kind } = resolution
        trace.push(kind === 'settle' ? `settle ${resolution.settlement.cost}` : `release ${resolution.holdId}`)
      },
    },
    keeper: {
      keep(hold) {
        renewal = () => hold.renewal()
      },
      forget: () => void trace.push('forget'),
    },
  }
})

const ALLOWED = { allowedModels: ['svc/alpha'], allowedProviders: ['chat'] }
const offerOf = (size: HoldSize) => ({ size, allowed: ALLOWED }) as unknown as Offer
const FIRST = offerOf(SIZE)

type Shrink = (refusal: Refusal) => Offer | undefined

class TestNegotiation extends Negotiation<Offer> {
  constructor(private readonly shrink: Shrink) {
    super({ ledger: { readKey: async () => undefined }, permissions: createKeyPermissions() }, PAYER)
  }

  protected offer(): Offer {
    return FIRST
  }

  override async goOn(refusal: Refusal): Promise<boolean> {
    const next = this.shrink(refusal)
    if (next) Object.assign(this, { latest: next })
    return next !== undefined
  }
}

function run(use: (hold: Hold, offer: Offer) => Promise<Response>, shrink: Shrink = () => undefined) {
  return withHold(
    deps,
    { payer: PAYER, requestId: 'hold_1', line: {}, clientAddress: '192.0.2.1' },
    new TestNegotiation(shrink),
    use,
  )
}

describe('before the provider is called', () => {
  test('the reserve uses the amount of the offer unchanged', async () => {
    await run(async (hold) => {
      trace.push('asked')
      await hold.release()
      return new Response()
    })
    expect(trace).toEqual(['reserve', 'asked', 'forget', 'release hold_1'])
    expect(reserves).toEqual([
      {
        ...{ ...PAYER, holdId: 'hold_1', amount: nano(900), inputCost: nano(30), tokens: 70, ttlMs: 20_000 },
        allowed: ALLOWED,
        from: expect.objectContaining({ clientAddress: '192.0.2.1' }),
      },
    ])
  })

  test('a final refusal of the ledger is returned, without a call to a provider', async () => {
    outcomes = [{ kind: 'account_suspended' }]
    await expect(run(async () => new Response())).rejects.toMatchObject({ status: 403 })
    expect(trace).toEqual(['reserve'])
  })

  test('after a refusal further offers are tried, and the first accepted offer applies', async () => {
    const second = offerOf({ ...SIZE, amount: nano(4) })
    outcomes = [SHORT]
    const given = await new Promise<[Hold, Offer]>((resolve) => {
      void run(
        async (hold, offer) => {
          resolve([hold, offer])
          await hold.release()
          return new Response()
        },
        (refusal) => (refusal.kind === 'insufficient' && refusal.available === 5 ? second : undefined),
      )
    })
    expect(given[1]).toBe(second)
    expect(given[0].size).toBe(second.size)
    expect(given[0].limits).toEqual({ requests: LIMIT, tokens: LIMIT })
    expect(reserves.map((request) => request.amount)).toEqual([nano(900), nano(4)])
  })

  test('if no further offer exists, the last refusal is returned', async () => {
    outcomes = [SHORT]
    await expect(run(async () => new Response())).rejects.toMatchObject({ status: 402 })
  })

  test('if the ledger is unreachable the request is a 503, and a hold that may exist is released', async () => {
    outcomes = [new Error('gone')]
    const refused = await run(async () => new Response()).catch((error: GatewayError) => error)
    expect(refused).toMatchObject({ status: 503, options: { code: 'ledger_unavailable', retryAfterSeconds: 1 } })
    expect(trace).toEqual(['reserve', 'release hold_1'])
  })
})

describe('ending a hold', () => {
  test('the first settlement or release of a hold counts; later ones wait for it and change nothing', async () => {
    await run(async (hold) => {
      await Promise.all([hold.settle(CHARGE, FACTS), hold.release(), hold.settle({ ...CHARGE, cost: nano(99) }, FACTS)])
      return new Response()
    })
    expect(trace).toEqual(['reserve', 'forget', 'settle 40'])
  })

  test('unused tokens are returned to the minute’s limit', async () => {
    let tokens = 0
    deps.settler.resolve = async (resolution) => {
      if (resolution.kind === 'settle') tokens = resolution.settlement.tokens
    }
    await run(async (hold) => {
      await hold.settle(CHARGE, FACTS)
      return new Response()
    })
    const { uncached, cacheRead, cacheWrite5m, cacheWrite1h, output } = FACTS.usage
    expect(tokens).toBe(uncached + cacheRead + cacheWrite5m + cacheWrite1h + output)
  })

  test('an exception during a request ends the hold, and is then thrown again', async () => {
    const failure = run(async () => {
      throw new GatewayError('timeout', 'late')
    })
    await expect(failure).rejects.toMatchObject({ status: 504 })
    await failure.catch(() => undefined)
    expect(trace).toEqual(['reserve', 'forget', 'release hold_1'])
  })

  test('an exception after a settlement does not end the hold again', async () => {
    await run(async (hold) => {
      await hold.settle(CHARGE, FACTS)
      throw new Error('bug')
    }).catch(() => undefined)
    expect(trace).toEqual(['reserve', 'forget', 'settle 40'])
  })

  test('a hold that was never ended is released and reported as a bug', async () => {
    await expect(run(async () => new Response())).rejects.toThrow('without settling')
    await Promise.resolve()
    expect(trace).toContain('release hold_1')
  })

  test('a stream that owns its hold also ends it', async () => {
    let kept: Hold | undefined
    await run(async (hold) => {
      kept = hold
      hold.handOver()
      return new Response()
    })
    expect(trace).toEqual(['reserve'])
    await kept?.settle(CHARGE, FACTS)
    expect(trace).toEqual(['reserve', 'forget', 'settle 40'])
  })
})

test('a renewal of a hold has the current cost of the answer', async () => {
  let cost = nano(1)
  await run(async (hold) => {
    hold.onRenewal(() => ({ cost, facts: FACTS }))
    hold.handOver()
    return new Response()
  })
  cost = nano(7)
  expect(renewal?.()).toEqual({
    ...{ accountId: 'acct_1', holdId: 'hold_1', ttlMs: 20_000, cost: nano(7), facts: FACTS, reached: true },
  })
})
