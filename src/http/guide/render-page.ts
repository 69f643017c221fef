/** Renders a page of the guide from Markdown to HTML. Finds its sections, and changes links between files to links between pages. */

type Section = { id: string; level: number; heading: string; text: string }

export type RenderedPage = { title: string; html: string; sections: readonly Section[] }

/** The gateway's address in examples, replaced by the real one. */
export const EXAMPLE_ADDRESS = 'http://localhost:3000'
const COMMENT = /^<!--[\s\S]*?-->\n/gm
const HEADING = /<h([23]) id="([^"]*)">([\s\S]*?)<\/h\1>/g
const PAGE_LINK = /href="([a-z-]+)\.md(#[^"]*)?"/g

/** Renders `markdown`. HTML in it is escaped, and only links that begin like a URL or a path are kept. */
export function renderPage(markdown: string, address: string | undefined): RenderedPage {
  const text = markdown.replace(COMMENT, '').replaceAll(`](${EXAMPLE_ADDRESS}/`, '](/')
  const shown = address === undefined ? text : text.replaceAll(EXAMPLE_ADDRESS, address)
  const raw = Bun.markdown.html(shown, { headings: { ids: true }, noHtmlBlocks: true, noHtmlSpans: true })
  const title = plainText(/<h1[^>]*>([\s\S]*?)<\/h1>/.exec(raw)?.[1] ?? '')
  return { title, html: dress(raw), sections: sectionsOf(raw, title) }
}

function dress(html: string): string {
  return html
    .replaceAll(/href="(?!https?:|\/|#|[a-z-]+\.md)[^"]*"/g, 'href="#"')
    .replaceAll(PAGE_LINK, (_, page: string, anchor = '') => `href="${pathOfPage(page)}${anchor}"`)
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<pre>', '<pre tabindex="0">')
}

/** The path of a page, by its file name. */
export function pathOfPage(name: string): string {
  return name === 'index' ? '/docs/guide' : `/docs/guide/${name}`
}

function sectionsOf(html: string, title: string): Section[] {
  const found = [...html.matchAll(HEADING)]
  const starts = [...found.map(({ index }) => index), html.length]
  const before = { id: '', level: 1, heading: title, text: plainText(html.slice(0, starts[0])) }
  const sections = found.map(([whole, level, id = '', inner = ''], order) => {
    const text = html.slice((starts[order] ?? 0) + whole.length, starts[order + 1])
    return { id, level: Number(level), heading: plainText(inner), text: plainText(text) }
  })
  return [before, ...sections]
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' }

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(lt|gt|quot|amp);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Escapes `text` for HTML and quoted attributes. */
export function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
