/** Writes an uploaded file to Postgres in parts while it arrives. Checks its size and its lines at the same time. */
import { type Files, PART_BYTES } from '@/batches/files'
import type { BatchFile, Scope } from '@/batches/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import { ownTurn } from '@/lib/wait/own-turn'
import { MAX_FILE_BYTES, MAX_LINES } from './input-lines'
import { boundaryOf, readParts } from './multipart'

const MAX_FIELD_BYTES = 4 * 1024
const MAX_NAME_CHARS = 255
const NEWLINE = 0x0a
const CONTROL_CHARACTERS = /\p{Cc}/gu
const PURPOSE = 'batch'

type UploadDeps = {
  files: Files
  /** Throws if the account has no room for `bytes` more bytes. */
  requireRoom(bytes: number): Promise<void>
}

/** Stores the file of a form with the fields `purpose` and `file`. If the upload is invalid, nothing is kept. */
export async function receiveFile(
  { files, requireRoom }: UploadDeps,
  request: Request,
  scope: Scope,
  keyId: string,
): Promise<BatchFile> {
  const boundary = boundaryOf(request.headers)
  await requireRoom(Number(request.headers.get('content-length') ?? 0))
  const id = await files.open({ accountId: scope.accountId, keyId, name: '' })
  try {
    const { name, purpose } = await storeParts(files, id, request, boundary, requireRoom)
    if (purpose !== PURPOSE) {
      throw invalidRequest(`purpose: expected ${PURPOSE}; files for other purposes are not stored here.`, 'purpose')
    }
    if (name === undefined) throw invalidRequest('file: the form has no file.', 'file')
    return await files.complete(scope, id, name)
  } catch (error) {
    await files.discard(id)
    throw error
  }
}

async function storeParts(
  files: Files,
  id: string,
  request: Request,
  boundary: string,
  requireRoom: UploadDeps['requireRoom'],
): Promise<{ name: string | undefined; purpose: string | undefined }> {
  const writer = partWriter(files, id, requireRoom)
  let name: string | undefined
  let purpose: string | undefined
  let field = ''
  for await (const event of readParts(request.body ?? emptyBody(), boundary)) {
    if (event.kind === 'part') {
      field = event.name
      if (field === 'file' && name !== undefined) throw invalidRequest('file: the form has several files.', 'file')
      if (field === 'file') name = nameOf(event.filename)
      if (field === 'purpose') purpose = ''
    } else if (field === 'file') {
      const written = writer.write(event.bytes)
      if (written) await written
    } else if (field === 'purpose') {
      purpose += Buffer.from(event.bytes).toString()
      if ((purpose?.length ?? 0) > MAX_FIELD_BYTES) throw invalidRequest('purpose: the text is too long.', 'purpose')
    }
  }
  await writer.end()
  return { name, purpose }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

function nameOf(filename: string | undefined): string {
  const name = (filename ?? '').replace(CONTROL_CHARACTERS, '').toWellFormed().slice(0, MAX_NAME_CHARS)
  return name === '' ? 'file' : name
}

function partWriter(files: Files, id: string, requireRoom: UploadDeps['requireRoom']) {
  let pieces: Uint8Array[] = []
  let size = 0
  let place = 0
  let bytes = 0
  let lines = 0

  async function flush(): Promise<void> {
    if (size === 0) return
    const part = Buffer.concat(pieces)
    pieces = []
    size = 0
    await requireRoom(part.length)
    await ownTurn()
    await files.append(id, place++, part)
  }

  return {
    write(piece: Uint8Array): Promise<void> | undefined {
      bytes += piece.length
      lines += countLines(piece)
      if (bytes > MAX_FILE_BYTES) throw tooLarge(`more than ${MAX_FILE_BYTES / 1024 ** 2} MiB`)
      if (lines > MAX_LINES) throw tooLarge(`more than ${MAX_LINES} lines`)
      // A copy, because the piece is a view of a larger buffer.
      pieces.push(piece.slice())
      size += piece.length
      return size >= PART_BYTES ? flush() : undefined
    },
    end: flush,
  }
}

function countLines(piece: Uint8Array): number {
  let lines = 0
  for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1)) lines++
  return lines
}

function tooLarge(what: string): GatewayError {
  return new GatewayError('too_large', `The file has ${what}.`, { param: 'file' })
}
