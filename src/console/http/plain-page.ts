import { createHash } from 'node:crypto'
import { escapeHtml } from '@/lib/html/escape'

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;place-items:center;min-height:100vh;background:light-dark(#f3f5f7,#101418);color:light-dark(#14181c,#e8ecf0)}
main{box-sizing:border-box;padding:1.5rem;background:light-dark(#fff,#1a2026);border-radius:.75rem}
h1{font-size:1.25rem;margin:0}`

/** Makes console pages without scripts or session: a centred card. `body` is HTML. `style` is CSS; the policy allows no other CSS. */
export function createPlainPage(title: string, style: string): (body: string, status: number) => Response {
  const css = STYLE + style
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(css).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return (body, status) => {
    const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title><style>${css}</style></head><body><main>${body}
</main></body></html>
`
    return new Response(html, {
      status,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      },
    })
  }
}
