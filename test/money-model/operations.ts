/** Everything that moves money, at random: what may happen next, and how often it is chosen. */
import { fc } from '@test/support/property'

const client = fc.nat(1)
const who = fc.nat(1)
const key = fc.nat(3)
/** Counted from the latest. */
const which = fc.oneof(fc.nat(1), fc.nat(5))
const cents = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 4_000 }))
const tokens = fc.oneof(fc.nat(50_000), fc.nat(1_000_000_000))
/** Now and then all that is there: only then is there too little for what comes next. */
const isAll = fc.constantFrom(false, false, false, true)
const share = fc.integer({ min: 0, max: 130 })
const is = fc.boolean()

const scope = fc.constantFrom('account', 'member', 'key')
const window = fc.constantFrom('day', 'week', 'month', 'total')
/** What a limit leaves, of all or above what is spent and held; undefined takes it off. */
const spare = fc.oneof(fc.constantFrom(undefined, undefined, 0), fc.nat(200_000), fc.nat(5_000_000_000))

const price = fc.constantFrom(undefined, 1, 999, 2_000, 2_001, 75_000)
/** Not always the same at both gateways: between two reloads by signal they differ. */
const offer = fc.record({
  prices: fc.tuple(price, price, price),
  candidates: fc.shuffledSubarray([0, 1, 2]),
  isFallingBack: is,
})

function step<Kind extends string, Fields extends object>(
  weight: number,
  kind: Kind,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) {
  const arbitrary = fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<
    { kind: Kind } & Fields
  >
  return { weight, arbitrary }
}

/** One operation; `which` names a hold, an order or another thing that an earlier one has made, counted from the latest. */
export const operation = fc.oneof(
  step(30, 'reserve', { client, key, tokens, isAll, asked: fc.nat(3), output: fc.nat(500), answers: fc.nat(2) }),
  step(10, 'renew', { which, share }),
  step(24, 'settle', { which, share, isHangUp: fc.constantFrom('no', 'no', 'no', 'free', 'charged') }),
  step(6, 'release', { which }),
  step(10, 'lapse', { which, share, lateShare: share, isRenewed: is, isSwept: is, isLate: is }),
  step(8, 'expire', { client }),
  step(8, 'deposit', { who, cents }),
  step(5, 'transfer', { who, cents, isAgreed: is }),
  step(5, 'adjust', { who, cents, isTaking: is, mayOverdraw: is }),
  step(6, 'move', { who, cents, isAll }),
  step(5, 'refund', { which, cents, mayOverdraw: is }),
  step(5, 'chargeback', { which, cents }),
  step(4, 'won', { which, cents }),
  step(3, 'judge', {}),
  step(3, 'activate', { who }),
  step(7, 'budget', { client, key, scope, window, spare, isAbove: is }),
  step(3, 'grant', { client, key, scope, window, which, amount: fc.integer({ min: 1, max: 2_000_000_000 }) }),
  step(3, 'hand_over', { client, key, to: fc.nat(1) }),
  step(4, 'reload', { at: fc.constantFrom('one', 'other', 'both'), offer }),
  step(6, 'flush', { isKilled: is }),
  step(2, 'old_charge', { who, tokens: fc.nat(5_000), month: fc.constantFrom('2025-09', '2025-10', '2025-11') }),
  step(2, 'archive', { before: fc.constantFrom('2025-10', '2025-11', '2025-12') }),
  step(1, 'unarchive', {}),
  step(5, 'save', {}),
  step(4, 'rewind', { isResentFirst: is, isEmpty: fc.constantFrom(false, false, true) }),
  step(3, 'kill', { client }),
  step(3, 'blackout', { isResentFirst: is, isEmpty: fc.constantFrom(false, false, true) }),
  step(5, 'turn', { turn: fc.constantFrom('day', 'day', 'week', 'month') }),
  step(3, 'grant_ends', { client, key, scope, window: fc.constantFrom('day', 'week', 'month') }),
  step(4, 'handed_over_open', {
    client,
    key,
    to: fc.nat(1),
    tokens: fc.nat(50_000),
    window,
    share,
    lateShare: share,
    isSwept: is,
  }),
  step(2, 'rebuild', {}),
)

export type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never
