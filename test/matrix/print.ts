/** The command `bun run matrix`: runs every cell, prints the table and what is red, and writes docs/COMPATIBILITY.md. */
import { join } from 'node:path'
import { stopStores } from '@test/support/stores'
import { GROUPS } from './cases/index'
import { cellsOf, startMatrixGateway } from './lanes'
import { ROUND_TRIP_CELLS, runRoundTrip, startRoundTripGateway } from './round-trip'
import { runCell } from './run'
import { renderDocument } from './table'
import type { CellResult } from './types'

const DOCUMENT = join(import.meta.dir, '..', '..', 'docs', 'COMPATIBILITY.md')

const results = await runCells()
const loops = await runLoops()
await stopStores()
const red = [...results.filter(({ complaints }) => complaints.length > 0).map(describe), ...loops]
write(`${renderDocument()}\n`)
for (const line of red) write(`RED ${line}\n`)
write(`${results.length} cells and ${ROUND_TRIP_CELLS.length} tool loops, ${red.length} red\n`)
if (red.length === 0) await Bun.write(DOCUMENT, renderDocument())
process.exit(red.length === 0 ? 0 : 1)

async function runCells(): Promise<CellResult[]> {
  const matrix = await startMatrixGateway(GROUPS)
  const cells = GROUPS.flatMap((group) => group.cases.flatMap((declared) => cellsOf(group.name, declared)))
  const done: CellResult[] = []
  for (const cell of cells) done.push(await runCell(matrix, cell))
  await matrix.stop()
  return done
}

async function runLoops(): Promise<string[]> {
  const world = await startRoundTripGateway()
  const lines: string[] = []
  for (const cell of ROUND_TRIP_CELLS) {
    const complaints = await runRoundTrip(world, cell)
    const { trip, client, second, keeps } = cell
    if (complaints.length > 0) lines.push(`${trip.name}: ${client} to ${second}, ${keeps}: ${complaints.join('; ')}`)
  }
  await world.gateway.stop()
  return lines
}

function describe({ cell, complaints }: CellResult): string {
  const { group, client, provider, mode } = cell
  return `${group}: ${cell.case.name}: ${client} to ${provider}, ${mode}: ${complaints.join('; ')}`
}

function write(text: string): void {
  process.stdout.write(text)
}
