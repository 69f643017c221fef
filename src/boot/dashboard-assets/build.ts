import { basename, join } from 'node:path'
import type { DashboardAssets } from '@/console/http/assets/assets'
import { type Asset, createAsset } from '@/http/asset'

const SOURCE = join(import.meta.dir, '..', '..', 'dashboard')
const ASSET_PATH = '/dashboard/assets/'
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Bundles the pages of dashboard and documentation with Bun: hashed names, one chunk per page, compressed. Rejects with all errors. */
export async function buildAssets(): Promise<DashboardAssets> {
  const result = await Bun.build({
    entrypoints: [join(SOURCE, 'main.tsx'), join(SOURCE, 'docs', 'docs.ts')],
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
  // The font face is written here, since the bundler would inline the font into the styles.
  const face = hashed('font', 'css', new TextEncoder().encode(fontFace(font.name)))
  const files = new Map<string, Asset>()
  await Promise.all(
    [...bundled, icon, font, face].map(async ({ name, body }) => files.set(name, await compress(name, body))),
  )
  const linked = (entry: string) => {
    const names = bundled.filter(
      ({ name, isEntry }) => name.startsWith(`${entry}-`) && (isEntry || name.endsWith('.css')),
    )
    return [face, ...names].map(({ name }) => link(name)).join('\n')
  }
  const head = `<link rel="icon" href="${ASSET_PATH}${icon.name}" type="image/svg+xml">
<link rel="preload" href="${ASSET_PATH}${font.name}" as="font" type="font/woff2" crossorigin>`
  return {
    page: pageOf('Dashboard', `${head}\n${linked('main')}`, DASHBOARD_BODY),
    docsPage: pageOf('API documentation', `${head}\n${linked('docs')}`, DOCS_BODY),
    icon: icon.name,
    files,
  }
}

function link(name: string): string {
  const address = `${ASSET_PATH}${name}`
  return name.endsWith('.css')
    ? `<link rel="stylesheet" href="${address}">`
    : `<script type="module" src="${address}"></script>`
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

function compress(name: string, body: Uint8Array): Promise<Asset> {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  return createAsset(CONTENT_TYPES[extension] ?? 'application/octet-stream', body)
}

const DASHBOARD_BODY = `<div id="root"></div>
<noscript>The dashboard needs JavaScript. The API does not: see /docs.</noscript>`

const DOCS_BODY = `<div id="root"></div>
<noscript>This page needs JavaScript. The same as OpenAPI: <a href="/docs/json">/docs/json</a>.</noscript>`

function pageOf(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`
}
