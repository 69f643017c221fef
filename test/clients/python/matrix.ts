/** The cases of the matrix in which a library's own code has a part, with the Python libraries as clients. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answers } from '@test/matrix/cases/answers'
import { dialects } from '@test/matrix/cases/dialects'
import { errors } from '@test/matrix/cases/errors'
import { moreDialects } from '@test/matrix/cases/more-dialects'
import { streams } from '@test/matrix/cases/streams'
import { tools } from '@test/matrix/cases/tools'
import { readMessage } from '@test/matrix/clients/anthropic'
import { readResponses } from '@test/matrix/clients/genai'
import { readCompletion } from '@test/matrix/clients/openai'
import { readResponse } from '@test/matrix/clients/openai-responses'
import type { LibraryView, MatrixClient, Sent } from '@test/matrix/clients/sending'
import { cellsOf, type MatrixGateway, startMatrixGateway } from '@test/matrix/lanes'
import { runCell } from '@test/matrix/run'
import type { FormatName } from '@/chat/format-name'
import type { PythonLibrary } from './libraries'

const GROUPS = [tools, answers, streams, dialects, moreDialects, errors]

/** Declares the tests. */
export function describeMatrix(libraries: readonly PythonLibrary[]): void {
  const clients = Object.fromEntries(libraries.map((library) => [library.family, matrixClient(library)])) as Record<
    FormatName,
    MatrixClient
  >
  let matrix: MatrixGateway
  beforeAll(async () => {
    matrix = await startMatrixGateway(GROUPS)
  })
  afterAll(() => matrix.stop())

  describe.each(GROUPS.map((group) => [group.name, group] as const))('Python: %s', (_group, group) => {
    // No library asks for the array.
    const cells = group.cases
      .flatMap((declared) => cellsOf(group.name, declared))
      .filter(({ mode }) => mode !== 'array')
    test.each(cells.map((cell) => [cell.case.name, cell.client, cell.provider, cell.mode, cell] as const))(
      '%s: %s to %s, %s',
      async (...[, , , , cell]) => {
        const { complaints } = await runCell(matrix, cell, clients)
        expect(complaints).toEqual([])
      },
    )
  })
}

/** What the module's `send` returns: the answer as it came, and what the library made of it. */
type Recorded = {
  status: number
  headers: [string, string][]
  text: string
  view: { kind: 'answer'; value: unknown } | { kind: 'failed'; status: number | undefined; message: string }
}

/** A Python library as a client of the matrix. */
export function matrixClient({ family, worker }: PythonLibrary): MatrixClient {
  return {
    async send({ baseUrl, key, model, mode, body }): Promise<Sent> {
      const sent = (await worker.call('send', { access: { baseUrl, key }, model, mode, body })) as Recorded
      const { status, headers, text, view } = sent
      return {
        status,
        headers: new Headers(headers),
        text,
        view: view.kind === 'answer' ? viewOf(family, view.value) : view,
      }
    },
  }
}

/** The library's objects have the fields of the wire, as those in TypeScript have. */
function viewOf(family: FormatName, value: unknown): LibraryView {
  switch (family) {
    case 'chat-completions':
      return readCompletion(value as Parameters<typeof readCompletion>[0])
    case 'messages':
      return readMessage(value as Parameters<typeof readMessage>[0])
    case 'generate-content':
      return readResponses(value as Parameters<typeof readResponses>[0])
    case 'responses':
      return readResponse(value as Parameters<typeof readResponse>[0])
  }
}
