/** Groups network addresses for limits by address. */

/** The unit that limits count: a whole IPv6 /64, which has one owner, or one IPv4 address, also if written as IPv6. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return address.includes(':') ? firstGroups(address, 4) : address
}

/** The first three groups of an IPv6 address, its /48: internet providers often give one to a customer. Undefined for IPv4. */
export function siteOf(address: string): string | undefined {
  return address.includes(':') && !address.includes('.') ? firstGroups(address, 3) : undefined
}

function firstGroups(address: string, count: number): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  // A proxy may pass an invalid address, which counts as its own network.
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - last.length)
  return [...groups, ...Array(missing).fill('0'), ...last]
    .slice(0, count)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
