/** Opens what public collections are written in: JSON, lines of JSON, gzip, and tar archives of one file. */
import { gunzipSync } from 'node:zlib'

/** The text of a file, without the mark of byte order that some begin with. */
export function textOf(content: Buffer): string {
  return content.toString('utf8').replace(/^\ufeff/, '')
}

/** A file that is one JSON value. */
export function json<T>(content: Buffer): T {
  return JSON.parse(textOf(content)) as T
}

/** A file of one JSON value a line. */
export function jsonLines<T>(content: Buffer): T[] {
  return textOf(content)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as T)
}

/** What a `.gz` holds. */
export function gunzip(content: Buffer): Buffer {
  return gunzipSync(content)
}

const TAR_BLOCK = 512

/** The largest file of a `.tar.gz`. */
export function fileOfArchive(content: Buffer): Buffer {
  const archive = gunzip(content)
  let largest: Buffer = Buffer.alloc(0)
  for (let at = 0; at + TAR_BLOCK <= archive.length; ) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136).trim() || '0', 8) || 0
    const file = archive.subarray(at + TAR_BLOCK, at + TAR_BLOCK + size)
    if (file.length > largest.length) largest = file
    at += TAR_BLOCK + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK
  }
  return largest
}
