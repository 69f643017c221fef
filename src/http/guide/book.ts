/** The guide as files to be served: each page is rendered and compressed when it is first asked for, and kept. */
import { type Asset, createAsset } from '@/http/asset'
import { once } from '@/lib/once'
import { documentOf } from './document'
import styles from './guide.css' with { type: 'text' }
import { GROUPS } from './pages'
import { pathOfPage, renderPage } from './render-page'
import { SEARCH_SCRIPT, type SearchEntry } from './search'

type LoadFile = () => Promise<Asset>

/** Files by what stands behind `/docs/guide/` in their addresses; that of the first page is empty. */
type Book = ReadonlyMap<string, LoadFile>

const HTML = 'text/html; charset=utf-8'

/** Makes the book, with `address` in the place of the examples' own. */
export function createBook(address: string | undefined): Book {
  const texts = GROUPS.flatMap(({ pages }) => Object.entries(pages))
  const rendered = new Map(texts.map(([name, text]) => [name, renderPage(text, address)]))
  const titleOf = (name: string) => rendered.get(name)?.title ?? name
  const menu = GROUPS.map(({ label, pages }) => {
    return { label, items: Object.keys(pages).map((name) => ({ name, title: titleOf(name) })) }
  })
  const version = Bun.hash(styles + SEARCH_SCRIPT).toString(36)
  const entries = [...rendered].flatMap(([name, { title, sections }]): SearchEntry[] =>
    sections.map(({ id, heading, text }) => {
      return { path: `${pathOfPage(name)}${id && `#${id}`}`, page: title, heading, text }
    }),
  )
  const files = new Map<string, LoadFile>([
    ['assets/guide.css', file('text/css; charset=utf-8', () => styles)],
    ['assets/guide.js', file('text/javascript; charset=utf-8', () => SEARCH_SCRIPT)],
    ['search.json', file('application/json', () => JSON.stringify(entries))],
  ])
  for (const [name, page] of rendered) {
    const key = name === 'index' ? '' : name
    files.set(
      key,
      file(HTML, () => documentOf({ name, page, menu, version })),
    )
  }
  return files
}

function file(contentType: string, write: () => string): LoadFile {
  return once(() => createAsset(contentType, new TextEncoder().encode(write())))
}
