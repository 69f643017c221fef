/**
 * Every case between every pair of formats, in every mode: a real client, a scripted provider, a real ledger. Slow:
 * thousands of requests.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { GROUPS } from './cases/index'
import { cellsOf, type MatrixGateway, startMatrixGateway } from './lanes'
import { runCell } from './run'

let matrix: MatrixGateway

beforeAll(async () => {
  matrix = await startMatrixGateway(GROUPS)
})
afterAll(() => matrix.stop())

for (const group of GROUPS) {
  describe(group.name, () => {
    for (const declared of group.cases) {
      describe(declared.name, () => {
        test.each(cellsOf(group.name, declared).map((cell) => [cell.client, cell.provider, cell.mode, cell] as const))(
          '%s to %s, %s',
          async (_client, _provider, _mode, cell) => {
            const { complaints } = await runCell(matrix, cell)
            expect(complaints).toEqual([])
          },
        )
      })
    }
  })
}
