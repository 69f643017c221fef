/** Parses networks of internet addresses (CIDR) strictly, and checks whether addresses are in them. */
import { BlockList, isIP } from 'node:net'

const IPV4_BITS = 32
const IPV6_BITS = 128
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`)
/** IPv6 addresses without a zone, and without IPv4 notation at the end. */
const IPV6 = /^[0-9a-f:]{2,39}$/i
const PREFIX = /^(?:0|[1-9]\d{0,2})$/

/**
 * Normalises an address or a network with a prefix length. Undefined for any other text. This includes short and octal forms, which some
 * programs accept, and addresses with bits after the prefix.
 */
export function parseNetwork(text: string): string | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  const isV4 = IPV4.test(address)
  if (rest.length > 0 || !(isV4 || (IPV6.test(address) && isIP(address) === 6))) return undefined
  const size = isV4 ? IPV4_BITS : IPV6_BITS
  if (prefix !== undefined && !PREFIX.test(prefix)) return undefined
  const length = Number(prefix ?? size)
  if (length > size) return undefined
  const bits = isV4 ? bitsOf(address.split('.').map(Number), 8) : bitsOf(groupsOf(address), 16)
  if (bits & ((1n << BigInt(size - length)) - 1n)) return undefined
  return `${isV4 ? address : shortest(address)}/${length}`
}

/** The shortest form of an IPv6 address, as browsers write it. */
function shortest(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function groupsOf(address: string): number[] {
  const [head = '', tail] = shortest(address).split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16))
}

function bitsOf(parts: readonly number[], width: number): bigint {
  return parts.reduce((bits, part) => (bits << BigInt(width)) | BigInt(part), 0n)
}

/** Whether an address is in one of the networks. IPv4 addresses also match as IPv6 (`::ffff:192.0.2.1`); invalid addresses never match. */
export type Networks = (address: string) => boolean

/** Takes networks from {@link parseNetwork}. */
export function createNetworks(networks: readonly string[]): Networks {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    list.addSubnet(address, Number(prefix), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return (address) => {
    const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
    const family = isIP(plain)
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4')
  }
}
