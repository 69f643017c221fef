/** Thousands of answers that nobody waits for to their end. */
import type { Fault } from '@faults/fault'

const STREAMS = 12_000
const AT_ONCE = 60
/** What thousands of aborted streams may leave behind: 25 to 50 MiB come and go with the collector, whether 4,000 were left or 16,000. */
const LEAK_BYTES = 64 * 1024 * 1024

export const c3: Fault = {
  id: 'C3',
  world: 'single',
  title: `${STREAMS} streams are left after their first words`,
  promise: 'Memory stays flat; each is charged.',
  async run(stage) {
    const streams = stage.isQuick ? STREAMS / 20 : STREAMS
    const customers = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.customer()))
    const leave = async (count: number) => {
      for (let begun = 0; begun < count; begun += AT_ONCE) {
        await Promise.all(
          customers.map((customer, index) =>
            stage.send({ customer, stream: true, words: 50, pauseMs: 4, hangUpAfterWords: 2 }, index % 2),
          ),
        )
      }
    }
    await stage.inject(() => leave(streams / 3))
    const before = await memory(stage.world.gateways)
    await leave((streams * 2) / 3)
    const grown = (await memory(stage.world.gateways)) - before
    stage.note(
      `C3: ${Math.round(grown / 1024)} KiB of memory more over two gateways after ${Math.round((streams * 2) / 3)} aborted streams`,
    )
    stage.expect(grown < LEAK_BYTES, `memory grew by ${Math.round(grown / 1024 / 1024)} MiB`)
    await stage.lift(() => undefined)
  },
}

async function memory(gateways: readonly { footprint(): Promise<{ residentBytes: number }> }[]): Promise<number> {
  const footprints = await Promise.all(gateways.map((gateway) => gateway.footprint()))
  return footprints.reduce((sum, { residentBytes }) => sum + residentBytes, 0)
}
