/** How one customer annoys all others: what a case of a bad neighbour says. */
import type { FuzzUser } from './world'

export type Neighbour = {
  name: string
  /** How many of them at once. */
  atOnce: number
  /** What its account has; much unless said. */
  usd?: string
  /** Whether it goes on from conversations as long as one may be. */
  resumes?: boolean
  /** Does it once. */
  annoy(url: string, user: NeighbourUser, turn: number): Promise<unknown>
}

/** Whoever annoys: of those who were there from the start, each also signed in; or a new customer with little credit. */
export type NeighbourUser = Pick<FuzzUser, 'key' | 'cookie' | 'accountId' | 'spareKeyId'>
