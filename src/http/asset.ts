/** A file as it is served: compressed beforehand, once, in every way that browsers ask for. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** `brotli` and `gzip` are the body compressed. */
export type Asset = { contentType: string; body: Uint8Array; brotli: Uint8Array; gzip: Uint8Array }

/** Above this, the last percent is not worth the seconds that it takes. */
const LARGE_BYTES = 1_000_000
const LARGE_QUALITY = 9

/** Compresses `body`, away from the event loop. */
export async function createAsset(contentType: string, body: Uint8Array): Promise<Asset> {
  const quality = body.length > LARGE_BYTES ? LARGE_QUALITY : constants.BROTLI_MAX_QUALITY
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality }
  const [brotli, gzipped] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)])
  return { contentType, body, brotli, gzip: gzipped }
}

/** The answer to `request`, in the shortest form that it accepts. */
export function assetResponse(asset: Asset, request: Request, headers: Readonly<Record<string, string>>): Response {
  const { body, encoding } = chooseEncoding(asset, request.headers.get('accept-encoding') ?? '')
  return new Response(body as Uint8Array<ArrayBuffer>, {
    headers: {
      'content-type': asset.contentType,
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
      ...headers,
    },
  })
}

function chooseEncoding(asset: Asset, accepted: string): { body: Uint8Array; encoding?: string } {
  if (/\bbr\b/.test(accepted)) return { body: asset.brotli, encoding: 'br' }
  if (/\bgzip\b/.test(accepted)) return { body: asset.gzip, encoding: 'gzip' }
  return { body: asset.body }
}
