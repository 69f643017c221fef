/** Every page, menu entry or text that a mail, a dialog or the guide names exists. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { SAMPLES } from '@test/accounts/mails/samples'
import { Glob } from 'bun'
import { contentOf } from '@/accounts/mails/templates'

const ROOT = join(import.meta.dir, '../..')

async function textsOf(pattern: string): Promise<{ path: string; text: string }[]> {
  const paths = [...new Glob(pattern).scanSync(ROOT)].sort()
  return await Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })))
}

const [pages = ''] = (await textsOf('src/dashboard/pages.tsx')).map(({ text }) => text)
const [menu = ''] = (await textsOf('src/dashboard/shell.tsx')).map(({ text }) => text)
const PATHS = [...pages.matchAll(/page\('([^']+)'/g)].map(([, path = '']) => path)
const MENU = new Map(
  [...menu.matchAll(/path: '([^']+)', label: '([^']+)'/g)].map(([, path = '', label = '']) => [label, path]),
)

/** Whether a page of the dashboard has the path, which may lie below an account. */
function isPage(path: string): boolean {
  const plain = `/${path.replace(/[?#].*$/, '').replace(/^a\/[^/]+\/?/, '')}`
  return PATHS.some((pattern) => new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`).test(plain))
}

test('each entry of the menu is a page', () => {
  expect(PATHS.length).toBeGreaterThan(30)
  expect(MENU.size).toBeGreaterThan(15)
  expect([...MENU.values()].filter((path) => !isPage(path.slice(1)))).toEqual([])
  expect(isPage('a/acct_1/nowhere')).toBe(false)
})

test.each(SAMPLES)('the links of the mail $kind lead to existing pages', ({ kind, facts }) => {
  const linked = contentOf(kind, facts).blocks.flatMap((block) => ('page' in block ? [block.page] : []))
  expect(linked.filter((page) => !isPage(page))).toEqual([])
})

/** Words for places, and the page that has to be there. */
const PLACES: Readonly<Record<string, string>> = {
  'audit log of the account': '/audit',
  'page of alerts': '/alerts',
  'your settings': '/settings',
  'the settings': '/settings',
}

test.each(Object.entries(PLACES))('"%s" in a text is the name of the page %s', async (words, path) => {
  const folders = ['src/accounts/mails', 'src/dashboard', 'src/people', 'src/console/http']
  const texts = (await Promise.all(folders.map((folder) => textsOf(`${folder}/**/*.{ts,tsx}`)))).flat()
  expect(texts.some(({ text }) => text.includes(words))).toBe(true)
  expect(PATHS).toContain(path)
})

test('each name that a mail quotes is on a page', async () => {
  const written = (await textsOf('src/{dashboard,people}/**/*.{ts,tsx}')).map(({ text }) => text).join('\n')
  const named = SAMPLES.flatMap(({ kind, facts }) =>
    contentOf(kind, facts).blocks.flatMap((block) =>
      'text' in block ? [...block.text.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name) : [],
    ),
  )
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !written.includes(name))).toEqual([])
})

/** A name in italics: of at most three words, as pages, sections and buttons have. */
const NAME = /(?<![*\w])\*([A-Z][A-Za-z-]*(?: [A-Za-z-]+){0,2})\*(?![*\w])/g

test('each name that the guide writes in italics is on a page, or is a chapter', async () => {
  const sources = [
    ...(await textsOf('src/{dashboard,people}/**/*.{ts,tsx}')),
    ...(await textsOf('src/console/http/**/*.ts')),
  ]
  const written = sources.map(({ text }) => text).join('\n')
  const guides = (await textsOf('docs/guide/*.md')).filter(({ path }) => !path.endsWith('deploy.md'))
  const named = guides.flatMap(({ path, text }) => [...text.matchAll(NAME)].map(([, name = '']) => ({ path, name })))
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ name }) => !written.includes(name))).toEqual([])
})
