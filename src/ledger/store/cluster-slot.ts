/** In which slot of a Redis Cluster a name of the ledger lives. */

const SLOT_COUNT = 16_384
const CRC_POLYNOMIAL = 0x1021

/** The hash slot of a name: CRC-16/XMODEM of its hash tag, or of all of it where it has none. */
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
