import alerts from '#guide/alerts.md' with { type: 'text' }
import audio from '#guide/audio.md' with { type: 'text' }
import batches from '#guide/batches.md' with { type: 'text' }
import budgets from '#guide/budgets.md' with { type: 'text' }
import buyingCredit from '#guide/buying-credit.md' with { type: 'text' }
import cachedAnswers from '#guide/cached-answers.md' with { type: 'text' }
import caching from '#guide/caching.md' with { type: 'text' }
import codingTools from '#guide/coding-tools.md' with { type: 'text' }
import comingFrom from '#guide/coming-from.md' with { type: 'text' }
import deploy from '#guide/deploy.md' with { type: 'text' }
import embeddings from '#guide/embeddings.md' with { type: 'text' }
import errors from '#guide/errors.md' with { type: 'text' }
import fallback from '#guide/fallback.md' with { type: 'text' }
import idempotent from '#guide/idempotent-requests.md' with { type: 'text' }
import images from '#guide/images-and-files.md' with { type: 'text' }
import index from '#guide/index.md' with { type: 'text' }
import keys from '#guide/keys.md' with { type: 'text' }
import libraries from '#guide/libraries.md' with { type: 'text' }
import limits from '#guide/limits-and-headers.md' with { type: 'text' }
import management from '#guide/management.md' with { type: 'text' }
import modelsAndPrices from '#guide/models-and-prices.md' with { type: 'text' }
import pictures from '#guide/pictures.md' with { type: 'text' }
import rerank from '#guide/rerank.md' with { type: 'text' }
import responses from '#guide/responses.md' with { type: 'text' }
import streaming from '#guide/streaming.md' with { type: 'text' }
import structured from '#guide/structured-output.md' with { type: 'text' }
import supportAnswers from '#guide/support-answers.md' with { type: 'text' }
import teams from '#guide/teams.md' with { type: 'text' }
import tiers from '#guide/tiers.md' with { type: 'text' }
import tools from '#guide/tools.md' with { type: 'text' }
import usage from '#guide/usage.md' with { type: 'text' }
import yourAddress from '#guide/your-address.md' with { type: 'text' }
import yourOwnShop from '#guide/your-own-shop.md' with { type: 'text' }
import { type Asset, createAsset } from '@/http/asset'
import { brandShades, type SiteBrand } from '@/lib/brand'
import { once } from '@/lib/once'
import { documentOf } from './document'
import styles from './guide.css' with { type: 'text' }
import { pathOfPage, renderPage } from './render-page'
import { SEARCH_SCRIPT, type SearchEntry } from './search'

type GuideGroup = { label: string; pages: Readonly<Record<string, string>> }

/** Pages by file name, without `.md`. */
const GROUPS: readonly GuideGroup[] = [
  {
    label: 'Start',
    pages: {
      index,
      'models-and-prices': modelsAndPrices,
      libraries,
      'coding-tools': codingTools,
      'coming-from': comingFrom,
      'support-answers': supportAnswers,
    },
  },
  {
    label: 'Guides',
    pages: {
      streaming,
      tools,
      'images-and-files': images,
      pictures,
      caching,
      'structured-output': structured,
      fallback,
      tiers,
      responses,
      embeddings,
      audio,
      rerank,
      batches,
      'buying-credit': buyingCredit,
      keys,
      alerts,
      budgets,
      'idempotent-requests': idempotent,
      'cached-answers': cachedAnswers,
      teams,
      'your-address': yourAddress,
      management,
      usage,
    },
  },
  { label: 'Reference', pages: { errors, 'limits-and-headers': limits } },
  { label: 'For operators', pages: { deploy, 'your-own-shop': yourOwnShop } },
]

type LoadFile = () => Promise<Asset>

/** The guide's files by their path below `/docs/guide/`; '' is the first page. */
type Book = ReadonlyMap<string, LoadFile>

const HTML = 'text/html; charset=utf-8'

/** The guide's pages: each is rendered and compressed at its first request. `address` replaces the address in examples. */
export function createBook(address: string | undefined, brand?: SiteBrand): Book {
  const texts = GROUPS.flatMap(({ pages }) => Object.entries(pages))
  const rendered = new Map(texts.map(([name, text]) => [name, renderPage(text, address)]))
  const titleOf = (name: string) => rendered.get(name)?.title ?? name
  const menu = GROUPS.map(({ label, pages }) => {
    return { label, items: Object.keys(pages).map((name) => ({ name, title: titleOf(name) })) }
  })
  const css = styles + brandStyle(brand)
  const version = Bun.hash(css + SEARCH_SCRIPT).toString(36)
  const entries = [...rendered].flatMap(([name, { title, sections }]): SearchEntry[] =>
    sections.map(({ id, heading, text }) => {
      return { path: `${pathOfPage(name)}${id && `#${id}`}`, page: title, heading, text }
    }),
  )
  const files = new Map<string, LoadFile>([
    ['assets/guide.css', file('text/css; charset=utf-8', () => css)],
    ['assets/guide.js', file('text/javascript; charset=utf-8', () => SEARCH_SCRIPT)],
    ['search.json', file('application/json', () => JSON.stringify(entries))],
  ])
  for (const [name, page] of rendered) {
    const key = name === 'index' ? '' : name
    files.set(
      key,
      file(HTML, () => documentOf({ name, page, menu, version, brand })),
    )
  }
  return files
}

/** A style rule that shows links in the operator's colour; empty without one. */
function brandStyle(brand: SiteBrand | undefined): string {
  const shades = brand && brandShades(brand)
  return shades ? `:root{--link:light-dark(${shades[7]},${shades[3]})}` : ''
}

function file(contentType: string, write: () => string): LoadFile {
  return once(() => createAsset(contentType, new TextEncoder().encode(write())))
}
