/** The networks from which a key may be used: its account's list and its own list, as text in Redis. Equal lists give equal texts. */
import { createBoundedMap } from '@/lib/bounded-map'
import { createNetworks, type Networks } from '@/lib/networks'

/** Lists of networks. A caller's address must be in each list. Empty: no restriction. */
export type AddressLists = readonly (readonly string[])[]

/** The networks of an account or a key; null = everywhere. */
export type Addresses = readonly string[] | null

/** Collects the lists that are set. */
export function addressListsOf(ofAccount: Addresses, ofKey: Addresses): AddressLists {
  return [ofAccount, ofKey].filter((list) => list !== null)
}

const STORED = /^a(\S*) /
const CAPACITY = 1_000
const known = createBoundedMap<string, readonly Networks[]>(CAPACITY)

/** Writes the lists as text, which Redis stores between the key's secrets and its allowed models. Empty without a list. */
export function addressText(lists: AddressLists | undefined): string {
  return lists && lists.length > 0 ? `a${lists.map((list) => [...new Set(list)].sort().join()).join(';')} ` : ''
}

/** Splits {@link addressText} from the rest of the text. */
export function splitAddresses(text: string): { addresses: string; rest: string } {
  const addresses = STORED.exec(text)?.[0] ?? ''
  return { addresses, rest: text.slice(addresses.length) }
}

/** Whether a key with this {@link addressText} may be used from an address. */
export function allowsAddress(text: string, address: string): boolean {
  const lists = known.get(text) ?? networksOf(text)
  return lists.every((has) => has(address))
}

function networksOf(text: string): readonly Networks[] {
  const lists = STORED.exec(text)?.[1]?.split(';') ?? []
  const networks = lists.map((list) => createNetworks(list.split(',')))
  known.set(text, networks)
  return networks
}
