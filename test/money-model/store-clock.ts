/** The store's clock, which a sequence turns: days, weeks and months pass in the middle of it. */
import { createHash } from 'node:crypto'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import type { RedisClient } from '@/ledger/store/connection'
import { assert } from '@/lib/assert'
import { MS_PER_DAY, MS_PER_HOUR, startOfUtcDay } from '@/lib/clock'

/** By how much a store's clock is ahead of the machine's; behind it where that is negative. */
const SHIFT_NAME = 'test-clock-shift'
const TRUE_TIME = 'return time[1] * 1000 + (time[2] - time[2] % 1000) / 1000\n'
const SHIFTED_TIME = TRUE_TIME.replace('\n', ` + (call('GET', '${SHIFT_NAME}') or 0)\n`)
const NOON = 12
const DAYS_PER_WEEK = 7
/** 1970 began on a Thursday, three days after a Monday. */
const FIRST_DAY = 3

/** What the clock is turned to the next of. */
type Turn = 'day' | 'week' | 'month'

/** How many worlds of this process have clocks that turn: several are played side by side. */
let turning = 0

/**
 * Has the scripts of this process ask each store for its shift, until every caller has called the function that it got. A store without
 * a shift has the machine's clock.
 */
export function letClocksTurn(): () => void {
  if (turning++ === 0) replaceTime(TRUE_TIME, SHIFTED_TIME)
  // Tests that the same process runs afterwards have stores whose users may not read the shift.
  return () => {
    if (--turning === 0) replaceTime(SHIFTED_TIME, TRUE_TIME)
  }
}

function replaceTime(before: string, after: string): void {
  for (const script of Object.values(SCRIPTS)) {
    assert(script.text.includes(before), 'the prelude tells the time in other words')
    const text = script.text.replace(before, after)
    Object.assign(script, { text, sha: createHash('sha1').update(text).digest('hex') })
  }
}

/** The clock of one store. It begins in the hour after noon, so that no window turns by itself within a sequence. */
export class StoreClock {
  private shiftMs = (NOON - new Date().getUTCHours()) * MS_PER_HOUR

  constructor(private readonly redis: RedisClient) {}

  now(): number {
    return Date.now() + this.shiftMs
  }

  /** To the same time of the next day, of the next Monday, or of the first of the next month. */
  async turn(turn: Turn): Promise<void> {
    const day = startOfUtcDay(this.now())
    const next = { day: day + MS_PER_DAY, week: mondayAfter(day), month: firstAfter(day) }[turn]
    this.shiftMs += next - day
    await this.write()
  }

  /** To be called whenever the store was emptied. */
  async write(): Promise<void> {
    await this.redis.set(SHIFT_NAME, this.shiftMs)
  }
}

function mondayAfter(dayMs: number): number {
  const days = (dayMs / MS_PER_DAY + FIRST_DAY) % DAYS_PER_WEEK
  return dayMs + (DAYS_PER_WEEK - days) * MS_PER_DAY
}

function firstAfter(dayMs: number): number {
  const date = new Date(dayMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
