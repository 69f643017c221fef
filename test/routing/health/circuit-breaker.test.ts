/** The state machine of the circuit breaker, on a simulated clock. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { type ManualClock, manualClock } from '@test/routing/world'
import { fc } from '@test/support/property'
import {
  type CallOutcome,
  type CircuitBreaker,
  type CircuitCall,
  createCircuitBreaker,
  FIRST_OPEN_MS,
  MAX_OPEN_MS,
  MIN_SAMPLES,
} from '@/routing/health/circuit-breaker'
import { WINDOW_MS } from '@/routing/health/sample-window'

const ID = 'p1/upstream'
const SLOW_MS = 1_000

let clock: ManualClock
let breaker: CircuitBreaker
let changes: string[]

beforeEach(() => {
  clock = manualClock()
  changes = []
  breaker = createCircuitBreaker({
    clock,
    random: () => 0.5,
    onChange: (id, state, forMs) => changes.push(`${id} ${state} ${forMs}`),
  })
})

function enter(isForced = false): CircuitCall {
  const call = breaker.enter(ID, SLOW_MS, isForced)
  if (!call) throw new Error('the call should have been admitted')
  return call
}

function fail(times: number): void {
  for (let index = 0; index < times; index++) enter().end('failed')
}

function succeed(times: number): void {
  for (let index = 0; index < times; index++) enter().end('answered')
}

describe('the closed circuit', () => {
  test('the circuit opens if half of enough outcomes are failures, and reports how long it stays open', () => {
    fail(MIN_SAMPLES - 1)
    expect(breaker.state(ID)).toBe('closed')
    fail(1)
    expect(breaker.state(ID)).toBe('open')
    expect(breaker.enter(ID, SLOW_MS)).toBeUndefined()
    expect(changes).toEqual([`${ID} open ${FIRST_OPEN_MS}`])
  })

  test('the circuit stays closed if fewer than half of the outcomes are failures', () => {
    succeed(51)
    fail(50)
    expect(breaker.state(ID)).toBe('closed')
    fail(1)
    expect(breaker.state(ID)).toBe('open')
  })

  test('the circuit does not count outcomes older than the window', () => {
    fail(MIN_SAMPLES - 1)
    clock.advance(WINDOW_MS)
    fail(MIN_SAMPLES - 1)
    expect(breaker.state(ID)).toBe('closed')
  })

  test('the circuit does not count a refusal of the request or the key as a failure', () => {
    for (let index = 0; index < 50; index++) enter().end('refused')
    for (let index = 0; index < 50; index++) enter().end('abandoned')
    expect(breaker.state(ID)).toBe('closed')
    expect(breaker.failureRate(ID)).toBe(0)
  })

  test('the circuit counts an answer that breaks off as a failure', () => {
    for (let index = 0; index < MIN_SAMPLES / 2; index++) {
      expect(breaker.state(ID)).toBe('closed')
      enter().end('answered')
      breaker.noteBroken(ID)
    }
    expect(breaker.state(ID)).toBe('open')
  })

  test('the circuit opens if most answers are slow', () => {
    const calls = Array.from({ length: MIN_SAMPLES }, () => enter())
    clock.advance(SLOW_MS)
    for (const call of calls) call.end('answered')
    expect(breaker.state(ID)).toBe('open')
  })

  test('calls that are still silent can open the circuit', () => {
    const calls = Array.from({ length: MIN_SAMPLES }, () => enter())
    clock.advance(SLOW_MS - 1)
    breaker.tick()
    expect(breaker.state(ID)).toBe('closed')
    clock.advance(1)
    breaker.tick()
    expect(breaker.state(ID)).toBe('open')
    for (const call of calls) call.end('answered')
    expect(breaker.state(ID)).toBe('open')
  })

  describe('twenty slow answers in a row', () => {
    const outrun = (times: number) => {
      for (let index = 0; index < times; index++) enter().end('outrun')
    }
    beforeEach(() => succeed(1_000))

    test('a failure among the slow answers does not reset the count', () => {
      outrun(MIN_SAMPLES - 1)
      fail(1)
      expect(breaker.state(ID)).toBe('closed')
      outrun(1)
      expect(breaker.state(ID)).toBe('open')
    })

    test.each([
      ['a good one', () => succeed(1)],
      ['a refusal, which shows that the provider responds', () => enter().end('refused')],
    ])('%s among the slow answers resets the count', (_, answer) => {
      outrun(MIN_SAMPLES - 1)
      answer()
      outrun(MIN_SAMPLES - 1)
      expect(breaker.state(ID)).toBe('closed')
    })

    test('twenty slow answers over a longer time than the window do not open the circuit', () => {
      outrun(MIN_SAMPLES - 1)
      clock.advance(WINDOW_MS)
      outrun(MIN_SAMPLES - 1)
      expect(breaker.state(ID)).toBe('closed')
    })
  })
})

describe('the half-open circuit', () => {
  beforeEach(() => {
    fail(MIN_SAMPLES)
    clock.advance(FIRST_OPEN_MS)
  })

  test('half-open: a successful probe closes the circuit', () => {
    enter().end('answered')
    expect(breaker.state(ID)).toBe('closed')
    expect(changes.at(-1)).toBe(`${ID} closed 0`)
    fail(MIN_SAMPLES)
    clock.advance(2 * FIRST_OPEN_MS)
    enter().end('refused')
    expect(breaker.state(ID)).toBe('closed')
  })

  test('half-open: each failed probe doubles the pause, up to a minute', () => {
    let expected = FIRST_OPEN_MS
    for (let round = 0; round < 6; round++) {
      enter().end('failed')
      expected = Math.min(MAX_OPEN_MS, expected * 2)
      expect(changes.at(-1)).toBe(`${ID} open ${expected}`)
      clock.advance(expected - 1)
      expect(breaker.state(ID)).toBe('open')
      clock.advance(1)
    }
  })

  test('half-open: a silent probe counts as failed, whatever it returns later', () => {
    const probe = enter()
    clock.advance(SLOW_MS)
    breaker.tick()
    expect(breaker.state(ID)).toBe('open')
    probe.end('answered')
    expect(breaker.state(ID)).toBe('open')
  })

  test('half-open: after a long quiet time the pause is short again', () => {
    enter().end('answered')
    clock.advance(120_000)
    fail(MIN_SAMPLES)
    expect(changes.at(-1)).toBe(`${ID} open ${FIRST_OPEN_MS}`)
  })
})

describe('the open circuit', () => {
  test('open: a forced call that succeeds closes the circuit, one that fails has no effect', () => {
    fail(MIN_SAMPLES)
    enter(true).end('failed')
    expect(breaker.state(ID)).toBe('open')
    enter(true).end('answered')
    expect(breaker.state(ID)).toBe('closed')
  })

  test('open: outcomes of earlier calls are ignored', () => {
    const early = enter()
    fail(MIN_SAMPLES)
    early.end('answered')
    expect(breaker.state(ID)).toBe('open')
    expect(changes).toHaveLength(1)
  })
})

describe('a circuit adopted from another gateway', () => {
  test('an adopted circuit is open as long as the other gateway reports it', () => {
    breaker.adopt(ID, 8_000)
    expect(breaker.state(ID)).toBe('open')
    expect(breaker.list()).toMatchObject([{ id: ID, isAdopted: true }])
    breaker.closeAdoptedExcept(new Set([ID]))
    expect(breaker.state(ID)).toBe('open')
    breaker.closeAdoptedExcept(new Set())
    expect(breaker.state(ID)).toBe('closed')
    expect(changes).toEqual([])
  })

  test('an adopted circuit expires without further reports', () => {
    breaker.adopt(ID, 8_000)
    clock.advance(8_000)
    expect(breaker.state(ID)).toBe('half-open')
  })

  test('our own successes close an adopted circuit', () => {
    succeed(MIN_SAMPLES)
    breaker.adopt(ID, 8_000)
    expect(breaker.state(ID)).toBe('closed')
  })

  test('the other gateway probes an adopted circuit, even if ours was open too', () => {
    fail(MIN_SAMPLES)
    breaker.adopt(ID, 20_000)
    clock.advance(FIRST_OPEN_MS)
    expect(breaker.state(ID)).toBe('open')
    breaker.closeAdoptedExcept(new Set())
    expect(breaker.state(ID)).toBe('closed')
  })
})

test('for random events, at most one probe runs, and open circuits admit no call', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('enter' as const), forced: fc.boolean() }),
    fc.record({ end: fc.constantFrom<CallOutcome[]>('answered', 'failed', 'refused', 'abandoned'), which: fc.nat(20) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
    fc.record({ do: fc.constantFrom('tick' as const, 'adopt' as const, 'release' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const time = manualClock()
      const circuit = createCircuitBreaker({ clock: time, random: () => 0.5 })
      const open: CircuitCall[] = []
      for (const action of steps) {
        const before = circuit.state(ID)
        if ('which' in action) {
          const [call] = open.splice(action.which % Math.max(open.length, 1), 1)
          call?.end(action.end)
        } else if (action.do === 'enter' && 'forced' in action) {
          const admits = circuit.admits(ID)
          const call = circuit.enter(ID, SLOW_MS, action.forced)
          expect(call !== undefined).toBe(admits || action.forced)
          if (before === 'open') expect(admits).toBe(false)
          if (call?.isProbe) expect(circuit.admits(ID)).toBe(false)
          if (call) open.push(call)
        } else if (action.do === 'wait' && 'ms' in action) time.advance(action.ms)
        else if (action.do === 'tick') circuit.tick()
        else if (action.do === 'adopt') circuit.adopt(ID, 5_000)
        else if (action.do === 'release') circuit.closeAdoptedExcept(new Set())
        if (circuit.state(ID) === 'half-open' && circuit.admits(ID)) {
          const probe = circuit.enter(ID, SLOW_MS)
          expect(probe?.isProbe).toBe(true)
          expect(circuit.enter(ID, SLOW_MS)).toBeUndefined()
          probe?.end('abandoned')
          expect(circuit.admits(ID)).toBe(true)
        }
      }
    }),
  )
})
