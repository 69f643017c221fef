/** Column types shared by all schema files: exact money and token counts, and times with a time zone. */
import { customType, timestamp } from 'drizzle-orm/pg-core'
import { type Nano, nano } from '@/lib/money'

/** An amount in nano-USD; reading one beyond ±9,000,000 USD is a bug and throws. */
export const amount = customType<{ data: Nano; driverData: number }>({
  dataType: () => 'nano_usd',
  fromDriver: (value) => nano(Number(value)),
})

/** A number of tokens, not negative. */
export const tokens = customType<{ data: number; driverData: number }>({
  dataType: () => 'token_count',
  fromDriver: (value) => Number(value),
})

/** A time as a Date; microseconds are cut off. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })
