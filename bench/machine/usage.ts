/** What the processors did during a measurement: the peer's share, its stores', the client's, the upstream's, and everybody else's. */
import { microsecondsBetween, readTree, type TreeReading } from './proc'

/** The processes whose time is told apart. */
export type Parties = Record<'peer' | 'redis' | 'postgres' | 'client' | 'upstream', readonly number[]>
export type PartyName = keyof Parties

type UsageReading = { byParty: Record<PartyName, TreeReading> }

const NAMES: readonly PartyName[] = ['peer', 'redis', 'postgres', 'client', 'upstream']

/** Reads all parties now. */
export function readUsage(parties: Parties): UsageReading {
  const entries = NAMES.map((name) => [name, readTree(parties[name])])
  return { byParty: Object.fromEntries(entries) as Record<PartyName, TreeReading> }
}

/** Microseconds of each party between two readings. */
export function usageBetween(before: UsageReading, after: UsageReading): Record<PartyName, number> {
  const entries = NAMES.map((name) => [name, microsecondsBetween(before.byParty[name], after.byParty[name])])
  return Object.fromEntries(entries) as Record<PartyName, number>
}
