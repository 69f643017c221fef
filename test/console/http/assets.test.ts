/** What browsers get without a session: the root address, the icon, and the dashboard's files with their policy. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { silentLogger } from '@test/accounts/fixture'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import packageFile from '#package.json'
import { loadAssets } from '@/boot/dashboard-assets/load'
import type { DashboardAssets } from '@/console/http/assets/assets'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
/** What a browser may load as scripts, compressed, before the first page is there. */
const MAX_FIRST_LOAD_BYTES = 200 * 1024

let gateway: TestGateway
let page: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hi')) })
  page = await (await get('/dashboard')).text()
})
afterAll(() => gateway.stop())

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.url + path, { headers })
}

function scriptOf(html: string): string {
  return /<script type="module" src="([^"]+)"/.exec(html)?.[1] ?? ''
}

describe('the HTML document', () => {
  test.each(['/dashboard', '/dashboard/', '/dashboard/keys', '/dashboard/credit/orders/order_1'])(
    'the HTML document is the same at %s',
    async (path) => {
      const response = await get(path)
      expect(response.status).toBe(200)
      expect(await response.text()).toBe(page)
    },
  )

  test('S24: the HTML document runs our own scripts only, and cannot be framed', async () => {
    const { headers } = await get('/dashboard')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(page).not.toMatch(/<script(?![^>]* src=)/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-cache')
  })

  test('unknown routes do not get the HTML document', async () => {
    for (const path of ['/dashboard/api', '/dashboard/api/nothing']) {
      const response = await get(path)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } })
    }
  })
})

describe('a file', () => {
  test('a dashboard file is sent in a compression that the browser accepts, cacheable for a year', async () => {
    const path = scriptOf(page)
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(plain.headers.get('content-type')).toStartWith('text/javascript')
    expect(plain.headers.get('cache-control')).toContain('immutable')
    const text = await plain.text()
    for (const encoding of ['br', 'gzip']) {
      const response = await get(path, { 'accept-encoding': encoding })
      expect(response.headers.get('content-encoding')).toBe(encoding)
      expect(response.headers.get('vary')).toBe('accept-encoding')
      expect(await response.text()).toBe(text)
    }
  })

  test.each(['nothing.js', '..%2f..%2fpackage.json', 'main.tsx', '__proto__', 'constructor'])(
    'the dashboard file %s is a 404',
    async (name) => {
      expect((await get(`/dashboard/assets/${name}`)).status).toBe(404)
    },
  )
})

describe('the build', () => {
  let assets: DashboardAssets
  beforeAll(async () => {
    assets = await loadAssets(silentLogger)
  })

  test('the build has a compressed file for every page', () => {
    const scripts = [...assets.files].filter(([name]) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(10)
    for (const [, { body, brotli }] of scripts) expect(brotliDecompressSync(brotli)).toEqual(Buffer.from(body))
  })

  test.each(['overview-page', 'sign-in-page'])('%s loads few scripts', (name) => {
    const entry = scriptOf(assets.page).split('/').at(-1) ?? ''
    const first = [...assets.files.keys()].find((file) => file.startsWith(name)) ?? ''
    expect(first).not.toBe('')
    const loaded = withImports(assets, [entry, first])
    const bytes = [...loaded].reduce((sum, file) => sum + (assets.files.get(file)?.brotli.length ?? 0), 0)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThanOrEqual(MAX_FIRST_LOAD_BYTES)
  })
})

function home(headers: Record<string, string>, method = 'GET'): Promise<Response> {
  return fetch(`${gateway.url}/`, { method, headers, redirect: 'manual' })
}

describe('GET /', () => {
  test('GET / leads a browser to the dashboard', async () => {
    const response = await home({ accept: BROWSER })
    expect(response.status).toBe(302)
    expect(response.headers.get('vary')).toBe('accept')
    const page = await fetch(new URL(response.headers.get('location') ?? '', gateway.url))
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<title>Dashboard</title>')
  })

  test.each(['*/*', 'application/json'])(
    'GET / gives programs that accept %s the list of addresses',
    async (accept) => {
      const response = await home({ accept })
      expect(response.status).toBe(200)
      const body = (await response.json()) as Record<string, string>
      expect(body).toMatchObject({ name: 'svc-gateway', version: packageFile.version })
      for (const place of ['docs', 'openapi', 'dashboard', 'models']) {
        expect(body[place]).toStartWith(gateway.url)
        expect((await fetch(body[place] ?? '')).status).toBe(200)
      }
    },
  )

  test('GET / does not accept a body', async () => {
    expect((await home({}, 'POST')).status).toBe(404)
  })
})

test('the icon is served at the usual and at the documented address', async () => {
  const icon = await fetch(`${gateway.url}/favicon.ico`)
  expect(icon.status).toBe(200)
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  expect(icon.headers.get('cache-control')).toBe('public, max-age=86400')
  expect(await icon.text()).toStartWith('<svg ')
  const page = await (await fetch(`${gateway.url}/docs`)).text()
  const linked = /<link rel="icon" href="([^"]+)"/.exec(page)?.[1]
  expect((await fetch(gateway.url + linked)).headers.get('content-type')).toBe('image/svg+xml')
})

/** The files and everything they import statically. */
function withImports(assets: DashboardAssets, names: readonly string[]): Set<string> {
  const found = new Set<string>()
  const walk = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    const text = new TextDecoder().decode(assets.files.get(name)?.body)
    for (const [, imported] of text.matchAll(/(?:from|import)"\/dashboard\/assets\/([^"]+)"/g)) walk(imported ?? '')
  }
  for (const name of names) walk(name)
  return found
}
