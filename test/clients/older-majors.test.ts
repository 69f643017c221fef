/** The previous major version of each library, in every case of the matrix that involves the library's own code. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answers } from '@test/matrix/cases/answers'
import { dialects } from '@test/matrix/cases/dialects'
import { errors } from '@test/matrix/cases/errors'
import { moreDialects } from '@test/matrix/cases/more-dialects'
import { streams } from '@test/matrix/cases/streams'
import { tools } from '@test/matrix/cases/tools'
import { OLDER_CLIENTS } from '@test/matrix/clients/index'
import { cellsOf, type MatrixGateway, startMatrixGateway } from '@test/matrix/lanes'
import { runCell } from '@test/matrix/run'

const GROUPS = [tools, answers, streams, dialects, moreDialects, errors]

let matrix: MatrixGateway

beforeAll(async () => {
  matrix = await startMatrixGateway(GROUPS)
})
afterAll(() => matrix.stop())

describe.each(GROUPS.map((group) => [group.name, group] as const))('the older major version %s', (_group, group) => {
  // No library asks for the array.
  const cells = group.cases.flatMap((declared) => cellsOf(group.name, declared)).filter(({ mode }) => mode !== 'array')
  test.each(cells.map((cell) => [cell.case.name, cell.client, cell.provider, cell.mode, cell] as const))(
    '%s: %s to %s, %s',
    async (...[, , , , cell]) => {
      const { complaints } = await runCell(matrix, cell, OLDER_CLIENTS)
      expect(complaints).toEqual([])
    },
  )
})
