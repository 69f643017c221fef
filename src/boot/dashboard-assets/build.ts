/** Builds the dashboard's pages with Bun's own bundler: hashed names, split by page, compressed for the wire. */
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Asset, DashboardAssets } from '@/console/http/assets/assets'

const SOURCE = join(import.meta.dir, '..', '..', 'dashboard')
const ASSET_PATH = '/dashboard/assets/'
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Bundles and compresses. Rejects with every fault of the sources where they don't build. */
export async function buildAssets(): Promise<DashboardAssets> {
  const result = await Bun.build({
    entrypoints: [join(SOURCE, 'main.tsx')],
    target: 'browser',
    splitting: true,
    minify: true,
    publicPath: ASSET_PATH,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const bundled = await Promise.all(
    result.outputs.map(async (output) => ({
      name: basename(output.path),
      isEntry: output.kind === 'entry-point',
      body: new Uint8Array(await output.arrayBuffer()),
    })),
  )
  const icon = hashed('icon', 'svg', await Bun.file(join(SOURCE, 'icon.svg')).bytes())
  const font = hashed('inter', 'woff2', await Bun.file(Bun.resolveSync(FONT, SOURCE)).bytes())
  // A face of our own, since the bundler would put the font itself into the styles.
  const face = hashed('font', 'css', new TextEncoder().encode(fontFace(font.name)))
  const files = new Map<string, Asset>()
  await Promise.all(
    [...bundled, icon, font, face].map(async ({ name, body }) => files.set(name, await compress(name, body))),
  )
  const scripts = bundled.filter(({ name, isEntry }) => isEntry && name.endsWith('.js')).map(({ name }) => name)
  const styles = [face, ...bundled].map(({ name }) => name).filter((name) => name.endsWith('.css'))
  return { page: pageOf({ scripts, styles, icon: icon.name, font: font.name }), files }
}

function hashed(name: string, extension: string, body: Uint8Array): { name: string; body: Uint8Array } {
  return { name: `${name}-${Bun.hash(body).toString(36)}.${extension}`, body }
}

function fontFace(font: string): string {
  return (
    '@font-face{font-family:"Inter Variable";font-style:normal;font-weight:100 900;font-display:swap;' +
    `src:url(${ASSET_PATH}${font}) format("woff2")}`
  )
}

async function compress(name: string, body: Uint8Array): Promise<Asset> {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    promisify(gzip)(body),
  ])
  return { contentType: CONTENT_TYPES[extension] ?? 'application/octet-stream', body, brotli, gzip: gzipped }
}

type PageParts = { scripts: readonly string[]; styles: readonly string[]; icon: string; font: string }

function pageOf({ scripts, styles, icon, font }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dashboard</title>
<link rel="icon" href="${ASSET_PATH}${icon}" type="image/svg+xml">
<link rel="preload" href="${ASSET_PATH}${font}" as="font" type="font/woff2" crossorigin>
${styles.map((name) => `<link rel="stylesheet" href="${ASSET_PATH}${name}">`).join('\n')}
${scripts.map((name) => `<script type="module" src="${ASSET_PATH}${name}"></script>`).join('\n')}
</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript. The API does not: see /docs.</noscript>
</body>
</html>
`
}
