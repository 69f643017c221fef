/** Renders a mail as text and HTML from one content. All content is escaped. */
import { type Brand, brandLinks, brandShades } from '@/lib/brand'
import { escapeHtml } from '@/lib/html/escape'
import type { Block, MailContent } from './content'

/** `link` is the first link; undefined if there is none, or no service address is configured. */
export type RenderedMail = { subject: string; text: string; html: string; link: string | undefined }

type Surroundings = {
  /** Start of every link: the service's address without a trailing slash. Undefined if it is not configured. */
  baseUrl: string | undefined
  service: string
  /** The operator's colour and links. */
  brand?: Brand | undefined
  /** Appended to the mail's link after a #, so that no server or log sees it. */
  token?: string | undefined
  /** Only for kinds that can be turned off: the URL that does so; undefined without a service address. */
  optional?: { unsubscribeUrl: string | undefined } | undefined
}

export function renderMail({ subject, blocks }: MailContent, surroundings: Surroundings): RenderedMail {
  const { service, baseUrl, optional, brand } = surroundings
  const links = blocks.flatMap((block) => ('page' in block ? [linkTo(surroundings, block.page)] : []))
  const heading = oneLine(subject)
  const foot = baseUrl === undefined ? service : `${service}, ${baseUrl}`
  const paragraphs = blocks.map((block) => blockAsText(block, surroundings))
  const wayOut = [...brandLines(brand), ...wayOutOf(optional)]
  const text = `${[...paragraphs, ['-- ', foot, ...wayOut.map(({ asText }) => asText)].join('\n')].join('\n\n')}\n`
  const body = blocks.map((block) => blockAsHtml(block, surroundings)).join('\n')
  const feet = [escapeHtml(foot), ...wayOut.map(({ asHtml }) => asHtml)]
  const html = document(heading, styleOf(brand), `${body}\n<p class="foot">${feet.join('<br>')}</p>`)
  return { subject: heading, text, html, link: links[0] }
}

/** Terms, privacy and support, one line each. */
function brandLines(brand: Brand | undefined): { asText: string; asHtml: string }[] {
  return brandLinks(brand ?? {}).map(({ label, href }) => ({
    asText: `${label}: ${href.replace(/^mailto:/, '')}`,
    asHtml: `<a href="${escapeHtml(href)}">${label}</a>`,
  }))
}

const NO_MORE = 'No more mails of this kind'

function wayOutOf(optional: Surroundings['optional']): { asText: string; asHtml: string }[] {
  if (!optional) return []
  const { unsubscribeUrl: url } = optional
  const words = directionsTo({ button: NO_MORE, page: 'alerts' })
  if (url === undefined) return [{ asText: words, asHtml: escapeHtml(words) }]
  return [{ asText: `${NO_MORE}: ${url}`, asHtml: `<a href="${escapeHtml(url)}">${NO_MORE}</a>` }]
}

function linkTo({ baseUrl, token }: Surroundings, page: string): string | undefined {
  return baseUrl && `${baseUrl}/dashboard/${page}${token === undefined ? '' : `#token=${encodeURIComponent(token)}`}`
}

/** The text instead of a link, if no service address is configured. The reader knows where to sign in. */
function directionsTo({ button, page }: { button: string; page: string }): string {
  return `${button}: sign in where you use this service, and open the page /dashboard/${page} there.`
}

function blockAsText(block: Block, surroundings: Surroundings): string {
  if ('text' in block) return oneLine(block.text)
  if ('page' in block) return linkTo(surroundings, block.page) ?? directionsTo(block)
  const { caption, rows } = block
  const lines = rows.map(([name, value]) => `${oneLine(name)}: ${oneLine(value)}`)
  return (caption === undefined ? lines : [`${caption}:`, ...lines.map((line) => `  ${line}`)]).join('\n')
}

function blockAsHtml(block: Block, surroundings: Surroundings): string {
  if ('text' in block) return `<p>${escapeHtml(oneLine(block.text))}</p>`
  if ('page' in block) {
    const address = linkTo(surroundings, block.page)
    if (address === undefined) return `<p>${escapeHtml(directionsTo(block))}</p>`
    const link = escapeHtml(address)
    return `<p><a class="button" href="${link}">${escapeHtml(block.button)}</a></p>\n<p class="small">Or open this address: <a href="${link}">${link}</a></p>`
  }
  const rows = block.rows.map(
    ([name, value]) =>
      `<tr><th scope="row">${escapeHtml(oneLine(name))}</th><td>${escapeHtml(oneLine(value))}</td></tr>`,
  )
  return block.caption === undefined
    ? `<table>${rows.join('')}</table>`
    : `<table class="list"><caption>${escapeHtml(block.caption)}</caption>${rows.join('')}</table>`
}

/** Puts a text on one line: a line break in a name must not break a header or a paragraph. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** The styles with the operator's colour, if one is configured. */
function styleOf(brand: Brand | undefined): string {
  const shades = brand && brandShades(brand)
  if (!shades) return STYLE
  return STYLE.replaceAll('#4f46e5', shades[6]).replaceAll('#4338ca', shades[7]).replaceAll('#a5b4fc', shades[3])
}

/** Both colour schemes are declared twice: by `color-scheme`, and by media queries for mail programs that only know these. */
const STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:24px 12px;background:#f3f5f7;color:#14181c;font:16px/1.5 -apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
main{box-sizing:border-box;max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:12px}
h1{font-size:20px;line-height:1.3;margin:0 0 16px;overflow-wrap:anywhere}
p{margin:0 0 16px;overflow-wrap:anywhere}
a{color:#4338ca;overflow-wrap:anywhere}
.button{display:inline-block;padding:10px 18px;border-radius:8px;background:#4f46e5;color:#fff;font-weight:600;text-decoration:none}
.small,.foot{font-size:14px;color:#4d5863}
.foot{margin:24px 0 0;padding-top:16px;border-top:1px solid #d7dde3}
table{border-collapse:collapse;margin:0 0 16px}
th,td{padding:6px 12px 6px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{font-weight:400;color:#4d5863;white-space:nowrap}
caption{padding:0 0 4px;text-align:left;font-weight:600}
.list{width:100%}
.list th{white-space:normal}
.list td{padding-right:0;text-align:right;white-space:nowrap}
@media (prefers-color-scheme:dark){
body{background:#101418;color:#e8ecf0}
main{background:#1a2026}
a{color:#a5b4fc}
.button{background:#4f46e5;color:#fff}
.small,.foot,th{color:#aab4bf}
.foot{border-top-color:#38424c}
}`

function document(heading: string, style: string, body: string): string {
  const title = escapeHtml(heading)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1>
${body}
</main></body></html>
`
}
