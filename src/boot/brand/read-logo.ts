/** Reads and checks the operator's logo: a small PNG, or an SVG without active content. */
import { stat } from 'node:fs/promises'
import type { Logo } from '@/lib/brand'

/** `message` completes the sentence "BRAND_LOGO: …". */
type ReadLogo = { kind: 'read'; logo: Logo } | { kind: 'faulty'; message: string }

const MAX_BYTES = 65_536
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Reads the logo in the file at `path`. Its content, not its name, decides between PNG and SVG. */
export async function readLogo(path: string): Promise<ReadLogo> {
  // Reading a pipe or a device might never end.
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return { kind: 'faulty', message: `cannot read ${path}` }
  if (found.size > MAX_BYTES) return { kind: 'faulty', message: `${path} is larger than ${MAX_BYTES} bytes` }
  const body = await Bun.file(path).bytes()
  const logo = (extension: string, contentType: string): ReadLogo => ({
    kind: 'read',
    logo: { name: `logo-${Bun.hash(body).toString(36)}.${extension}`, contentType, body },
  })
  if (PNG.every((byte, index) => body[index] === byte)) return logo('png', 'image/png')
  const { svgFault } = await import('./svg-fault')
  const fault = svgFault(body)
  return fault === undefined ? logo('svg', 'image/svg+xml') : { kind: 'faulty', message: `${path} ${fault}` }
}
