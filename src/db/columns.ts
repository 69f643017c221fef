/** Column types shared by all schema files: exact money and token counts, and times with a time zone. */
import { customType, timestamp } from 'drizzle-orm/pg-core'
import { type Nano, nano } from '@/lib/money'

export const amount = customType<{ data: Nano; driverData: number }>({
  dataType: () => 'nano_usd',
  fromDriver: (value) => nano(Number(value)),
})

export const tokens = customType<{ data: number; driverData: number }>({
  dataType: () => 'token_count',
  fromDriver: (value) => Number(value),
})

/** A time as a Date; microseconds are cut off. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })
