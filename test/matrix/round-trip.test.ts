/**
 * Signatures in tool loops: only the provider that signed reasoning or a call gets the signature back, through every
 * client format. Slow: every library with every provider format.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ROUND_TRIPS } from './cases/round-trips'
import { ROUND_TRIP_CELLS, type RoundTripGateway, runRoundTrip, startRoundTripGateway } from './round-trip'

let world: RoundTripGateway

beforeAll(async () => {
  world = await startRoundTripGateway()
})
afterAll(() => world.gateway.stop())

describe.each(ROUND_TRIPS)('the tool loop $name, signed by $signedBy', (trip) => {
  const cells = ROUND_TRIP_CELLS.filter((cell) => cell.trip === trip).map((cell) => {
    const asked = cell.isVisible ? 'reasoning shown' : 'reasoning hidden'
    return [cell.client, cell.second, cell.keeps, asked, cell.isStream ? 'stream' : 'json', cell] as const
  })
  test.each(cells)(
    '%s client to %s, history %s, %s, %s: signatures arrive as declared',
    async (...[, , , , , cell]) => {
      expect(await runRoundTrip(world, cell)).toEqual([])
    },
  )
})
