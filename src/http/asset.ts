/** A static file: compressed once in advance, in each encoding that browsers accept, and not sent again if cached. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** `brotli` and `gzip` are the compressed body; `tag` is its ETag. */
export type Asset = { contentType: string; tag: string; body: Uint8Array; brotli: Uint8Array; gzip: Uint8Array }

/** For files above this size, the best compression takes too long. */
const LARGE_BYTES = 1_000_000
const LARGE_QUALITY = 9

/** Compresses `body`, away from the event loop. */
export async function createAsset(contentType: string, body: Uint8Array): Promise<Asset> {
  const quality = body.length > LARGE_BYTES ? LARGE_QUALITY : constants.BROTLI_MAX_QUALITY
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality }
  const [brotli, gzipped] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)])
  return taggedAsset({ contentType, body, brotli, gzip: gzipped })
}

/** An asset from parts that are already compressed. */
export function taggedAsset(parts: Omit<Asset, 'tag'>): Asset {
  // A weak tag, because another encoding of the same file has different bytes.
  return { ...parts, tag: `W/"${Bun.hash(parts.body).toString(36)}"` }
}

/** The response to `request`, in the smallest encoding that it accepts. */
export function assetResponse(asset: Asset, request: Request, headers: Readonly<Record<string, string>>): Response {
  const common = { 'x-content-type-options': 'nosniff', vary: 'accept-encoding', etag: asset.tag, ...headers }
  if (names(request.headers.get('if-none-match'), asset.tag))
    return new Response(null, { status: 304, headers: common })
  const { body, encoding } = chooseEncoding(asset, request.headers.get('accept-encoding') ?? '')
  return new Response(body as Uint8Array<ArrayBuffer>, {
    headers: { 'content-type': asset.contentType, ...(encoding && { 'content-encoding': encoding }), ...common },
  })
}

/** Whether a list of tags in a header includes `tag`; `*` matches any. */
function names(list: string | null, tag: string): boolean {
  return list?.split(',').some((named) => ['*', tag, tag.slice('W/'.length)].includes(named.trim())) ?? false
}

function chooseEncoding(asset: Asset, accepted: string): { body: Uint8Array; encoding?: string } {
  if (/\bbr\b/.test(accepted)) return { body: asset.brotli, encoding: 'br' }
  if (/\bgzip\b/.test(accepted)) return { body: asset.gzip, encoding: 'gzip' }
  return { body: asset.body }
}
