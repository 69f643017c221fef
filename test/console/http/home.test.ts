/** The root address: leads browsers to the dashboard, and lists addresses for programs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import packageFile from '#package.json'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hi')) })
})
afterAll(() => gateway.stop())

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
