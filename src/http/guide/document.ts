/** The HTML around a page of the guide: menu, table of contents and search. */
import { brandLinks, logoPathOf, type SiteBrand } from '@/lib/brand'
import { escapeAttribute, pathOfPage, type RenderedPage } from './render-page'

/** A page in the menu. */
type MenuItem = { name: string; title: string }

type MenuGroup = { label: string; items: readonly MenuItem[] }

type DocumentOptions = {
  name: string
  page: RenderedPage
  menu: readonly MenuGroup[]
  /** Suffix of script and style URLs, so that browsers don't use cached files of an older release. */
  version: string
  /** The operator's name, logo and links. */
  brand: SiteBrand | undefined
}

export function documentOf({ name, page, menu, version, brand }: DocumentOptions): string {
  const owner = brand?.name === undefined ? undefined : escapeAttribute(brand.name)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeAttribute(page.title)} · Guide${owner === undefined ? '' : ` · ${owner}`}</title>
<link rel="icon" href="/favicon.ico" type="${brand?.logo?.contentType ?? 'image/svg+xml'}">
<link rel="stylesheet" href="/docs/guide/assets/guide.css?v=${version}">
<script src="/docs/guide/assets/guide.js?v=${version}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="name" href="/docs/guide">${logoOf(brand)}${owner === undefined ? '' : `${owner} `}Guide</a>
<a href="/docs">API reference</a>
<a href="/dashboard">Dashboard</a>
<search class="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the guide" autocomplete="off">
<p id="found" role="status"></p>
<ul id="results" hidden></ul>
</search>
</header>
<div class="frame">
<nav class="pages" aria-label="Pages">
${menu.map((group) => menuGroup(group, name)).join('\n')}
</nav>
<main id="content" tabindex="-1">
${page.html}
</main>
<nav class="contents" aria-label="On this page">
<h2>On this page</h2>
<ul>
${page.sections.map(contentsItem).join('')}
</ul>
</nav>
</div>
${footerOf(brand)}</body>
</html>
`
}

function logoOf(brand: SiteBrand | undefined): string {
  const path = brand && logoPathOf(brand)
  return path === undefined ? '' : `<img src="${path}" alt="" height="26"> `
}

function footerOf(brand: SiteBrand | undefined): string {
  const links = brandLinks(brand ?? {}).map(({ label, href }) => `<a href="${escapeAttribute(href)}">${label}</a>`)
  return links.length === 0 ? '' : `<footer class="links">${links.join(' ')}</footer>\n`
}

function menuGroup({ label, items }: MenuGroup, current: string): string {
  const links = items.map(({ name, title }) => {
    const mark = name === current ? ' aria-current="page"' : ''
    return `<li><a href="${pathOfPage(name)}"${mark}>${escapeAttribute(title)}</a></li>`
  })
  return `<h2>${escapeAttribute(label)}</h2>\n<ul>${links.join('')}</ul>`
}

function contentsItem({ id, level, heading }: RenderedPage['sections'][number]): string {
  if (id === '') return ''
  return `<li${level > 2 ? ' class="deep"' : ''}><a href="#${id}">${escapeAttribute(heading)}</a></li>\n`
}
