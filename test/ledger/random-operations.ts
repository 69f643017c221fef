/** What the model test may do next: each operation with its arguments at random, and how often it is chosen. */
import { fc } from '@test/support/property'
import type { AccountState } from '@/ledger/outcomes'

/** A hold is named by a number: of those known, or a new one. */
export type Named = { client: number; who: number; hold: number }

/** One step of the model test. */
export type Operation =
  | (Named & {
      kind: 'reserve'
      amount: number
      inputShare: number
      tokens: number
      ttlMs: number
      /** Planned with what the key may call, or with this. */
      plannedWith: 'allowed' | string[] | null
    })
  | (Named & { kind: 'renew'; cost: number; isReached: boolean; ttlMs: number })
  | (Named & { kind: 'settle'; cost: number; tokens: number; force: boolean; freePerHour: number | undefined })
  | (Named & { kind: 'release' })
  | (Named & { kind: 'lapse' })
  | { kind: 'advance'; ms: number }
  | { kind: 'expire'; client: number }
  | { kind: 'credit'; client: number; who: number; entry: number; amount: number }
  | { kind: 'withhold'; client: number; who: number; amount: number; mayOverdraw: boolean }
  | { kind: 'end_withheld'; client: number; who: number; isBooked: boolean; byExpiry: boolean }
  | { kind: 'set_key'; client: number; who: number; changes: object }
  | { kind: 'set_account'; client: number; who: number; changes: Partial<AccountState> }
  | { kind: 'flush'; crash: boolean }
  | { kind: 'restart' }
  | { kind: 'save' }
  | { kind: 'rewind' }
  | { kind: 'forget_scripts' }

const client = fc.nat(1)
const who = fc.nat(3)
const named = { client, who, hold: fc.nat(1_000) }
const cost = fc.oneof(fc.nat(60), fc.constant(0), fc.nat(2_000))
const tokens = fc.oneof(fc.nat(200), fc.constant(0), fc.nat(1_000_000_000))
/** Never a multiple of ten seconds apart from a step of the clock: real milliseconds must not decide what is due. */
const ttlMs = fc.constantFrom(25_000, 65_000, 125_000)

/** Any step, the common ones more often. */
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      ...{ kind: fc.constant('reserve' as const), ...named, amount: fc.oneof(fc.nat(60), fc.nat(1_000)) },
      ...{ inputShare: fc.nat(100), tokens, ttlMs },
      plannedWith: fc.constantFrom('allowed' as const, 'allowed' as const, 'allowed' as const, null, [
        'svc/b',
        'svc/a',
      ]),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('renew' as const), ...named, cost, isReached: fc.boolean(), ttlMs }),
  },
  {
    weight: 25,
    arbitrary: fc.record({
      ...{ kind: fc.constant('settle' as const), ...named, cost, tokens, force: fc.boolean() },
      freePerHour: fc.constantFrom(undefined, undefined, 0, 1_000_000),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('release' as const), ...named }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(10_000, 40_000, 200_000) }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('lapse' as const), ...named }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('expire' as const), client }) },
  {
    weight: 8,
    arbitrary: fc.record({
      ...{
        kind: fc.constant('credit' as const),
        client,
        who,
        entry: fc.nat(30),
        amount: fc.integer({ min: -200, max: 1_500 }),
      },
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      ...{ kind: fc.constant('withhold' as const), client, who },
      ...{ amount: fc.integer({ min: 1, max: 1_500 }), mayOverdraw: fc.boolean() },
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ kind: fc.constant('end_withheld' as const), client, who },
      ...{ isBooked: fc.boolean(), byExpiry: fc.boolean() },
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant('set_key' as const), client, who },
      changes: fc.record(
        {
          status: fc.constantFrom('active', 'active', 'active', 'deactivated'),
          requestsPerMinute: fc.constantFrom(2, 10, 1_000),
          tokensPerMinute: fc.constantFrom(100, 1_000, 100_000),
          concurrency: fc.constantFrom(1, 3, 20),
          monthlyBudget: fc.constantFrom(null, 0, 500, 5_000),
          allowedModels: fc.constantFrom('', '', 'svc/a', 'svc/a,svc/b'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('set_account' as const), client, who },
      changes: fc.record(
        {
          status: fc.constantFrom('active' as const, 'active' as const, 'suspended' as const),
          requestsPerMinute: fc.constantFrom(5, 1_000),
          tokensPerMinute: fc.constantFrom(500, 100_000),
          concurrency: fc.constantFrom(2, 30),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('flush' as const), crash: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'save' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'rewind' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'forget_scripts' as const }) },
)
