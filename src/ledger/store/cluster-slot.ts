const SLOT_COUNT = 16_384
const CRC_POLYNOMIAL = 0x1021

/** The Redis Cluster slot of a name: CRC-16/XMODEM of its hash tag, or of the whole name without one. */
export function slotOf(name: string): number {
  const tag = /\{([^}]+)\}/.exec(name)?.[1] ?? name
  let crc = 0
  for (const byte of new TextEncoder().encode(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ CRC_POLYNOMIAL : crc << 1
    crc &= 0xffff
  }
  return crc % SLOT_COUNT
}
