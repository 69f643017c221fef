/** The guide: every page is served, every link leads to a page, search finds sections, and all is accessible. Slow: every page and link. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { expectGoodLooks, openBrowser, type TestBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { renderPage } from '@/http/guide/render-page'
import { guideRoutes } from '@/http/routes/guide'
import { GUIDE_NAMES, readGuide } from './guide-files'

let gateway: TestGateway
let browser: TestBrowser

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([
    startGateway({ respond: () => Response.json(chatCompletion('hello')) }),
    openBrowser(),
  ])
})
afterAll(async () => {
  await browser.close()
  await gateway.stop()
})

/** A file of the repository: a path of its folders, or a document. */
const FILE = /(?<![\w./~-])(?:docs|src|test|config|deploy|bench)\/[\w./-]+|\b[\w-]+\.md\b/g

const pathOf = (name: string) => (name === 'index' ? '/docs/guide' : `/docs/guide/${name}`)

async function pageText(name: string): Promise<string> {
  const response = await fetch(gateway.url + pathOf(name))
  expect(`${name} ${response.status}`).toBe(`${name} 200`)
  return response.text()
}

describe('every page', () => {
  test('every page is served as compressed HTML with our own scripts only, and is in the menu', async () => {
    const menu = await pageText('index')
    for (const name of GUIDE_NAMES) {
      const response = await fetch(gateway.url + pathOf(name), { headers: { 'accept-encoding': 'br' } })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-encoding')).toBe('br')
      expect(response.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self';")
      expect(menu).toContain(`<li><a href="${pathOf(name)}"`)
    }
  })

  test('every link of a page leads to an existing page and heading', async () => {
    const pages = new Map(
      await Promise.all(GUIDE_NAMES.map(async (name) => [pathOf(name), await pageText(name)] as const)),
    )
    for (const [path, text] of pages) {
      for (const [, link = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^https?:/.test(link)) continue
        const [target = '', anchor] = link.split('#')
        const known = target === '' ? text : pages.get(target)
        const isThere = known !== undefined || (await fetch(gateway.url + target)).status === 200
        expect(`${path} → ${link}: ${isThere}`).toBe(`${path} → ${link}: true`)
        if (anchor !== undefined)
          expect(`${path} → ${link} ${known?.includes(`id="${anchor}"`)}`).toBe(`${path} → ${link} true`)
      }
    }
  })

  test('every link in the guide’s Markdown is rendered, and no page for customers names a file of the repository', async () => {
    for (const name of GUIDE_NAMES) {
      const served = await pageText(name)
      // A link that leads out of the guide is served as one to nowhere.
      expect(`${name}: ${served.includes('href="#"')}`).toBe(`${name}: false`)
      if (name === 'deploy') continue
      const files = renderPage(await readGuide(name), undefined).sections.flatMap(({ text }) => text.match(FILE) ?? [])
      expect(`${name}: ${files.join(', ')}`).toBe(`${name}: `)
    }
  })

  test('every page is accessible and fits its window, in the light at a desk and in the dark on a phone', async () => {
    const page = await browser.open('/docs/guide', { url: gateway.url })
    for (const name of GUIDE_NAMES) {
      await page.goto(gateway.url + pathOf(name))
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expectGoodLooks(page).catch((error: Error) => expect(`${name}: ${error.message}`).toBe(''))
    }
    await page.context().close()
  })
})

test('an unknown page, and a file outside the guide, is a 404', async () => {
  for (const path of ['/docs/guide/none', '/docs/guide/..%2f..%2fpackage.json', '/docs/guide/assets/none']) {
    expect((await fetch(gateway.url + path)).status).toBe(404)
  }
})

test('the search finds a section by words of its text and links to it', async () => {
  const page = await browser.open('/docs/guide', { url: gateway.url })
  await page.getByRole('searchbox', { name: 'Search the guide' }).fill('too_many_unpaid')
  await page.getByRole('link', { name: 'Errors: Codes' }).click()
  await page.waitForURL('**/docs/guide/errors#codes')
  await page.context().close()
})

test('pages of the guide show the service’s public address', async () => {
  const routes = guideRoutes({ publicUrl: 'https://gateway.example' })
  const text = await (await routes.handle(new Request('http://localhost/docs/guide'))).text()
  expect(text).toContain('curl https://gateway.example/v1/chat/completions')
  expect(text).not.toContain('localhost')
})

test('the page renderer is loaded at the first visit, not at the start', async () => {
  const script = `
    const { guideRoutes } = await import('@/http/routes/guide')
    const routes = guideRoutes({ publicUrl: undefined })
    const isLoaded = () => Object.keys(require.cache).some((path) => path.includes('/http/guide/'))
    const before = isLoaded()
    await routes.handle(new Request('http://localhost/docs/guide'))
    process.stdout.write(before + ' ' + isLoaded())`
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: join(import.meta.dir, '..', '..', '..') })
  expect(await new Response(child.stdout).text()).toBe('false true')
})

test('HTML and scripts in Markdown are shown as plain text, and script links are removed', () => {
  const { html } = renderPage(
    '# T\n\n<script>alert(1)</script> <b onclick="x">b</b>\n\n[l](javascript:alert(1))',
    undefined,
  )
  expect(html).not.toContain('<script')
  expect(html).not.toContain('<b ')
  expect(html).not.toContain('javascript:')
})

test('headings of the guide have the same anchors as on GitHub', async () => {
  for (const name of GUIDE_NAMES) {
    const { sections } = renderPage(await readGuide(name), undefined)
    for (const { id, heading } of sections.slice(1)) {
      const usual = heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-')
      expect(id.replace(/-\d$/, '')).toBe(usual.replace(/-\d$/, ''))
    }
  }
})
