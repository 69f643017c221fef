/** The mails' texts: where links lead, that no name becomes a link or markup, and that stated lifetimes are the tokens' lifetimes. */
import { describe, expect, test } from 'bun:test'
import { maskedAddress } from '@/accounts/mails/address-templates'
import { type RenderedMail, renderMail } from '@/accounts/mails/render'
import { contentOf, MAIL_KINDS, type NewMail } from '@/accounts/mails/templates'
import { escapeHtml } from '@/lib/html/escape'
import { SAMPLES } from './samples'

const BASE = { baseUrl: 'https://pay.example.test/base', service: 'svc' }
const LINK = 'https://pay.example.test/base/dashboard/verify-email#token=abc'

function render({ kind, facts }: NewMail, more: Partial<Parameters<typeof renderMail>[1]> = {}): RenderedMail {
  return renderMail(contentOf(kind, facts), { ...BASE, ...more })
}

/** Ways to write the dot and the slash of an address, and what nobody sees between its parts. */
const WRITINGS = ['.', '。', '．', '｡', '․', '﹒'].flatMap((dot) =>
  ['/', '／'].flatMap((slash) => ['', '\u200b', '\u2060'].map((gap) => [dot, slash, gap] as const)),
)
const LINK_OF_EVIL = /evil[.。]example/

/** What no user writes as they like: addresses that were confirmed, roles, models, amounts, moments, networks, and ids of providers. */
const OURS = new Set(
  [
    'accountId',
    'keyId',
    'orderId',
    'reference',
    'reason',
    'by',
    'owner',
    'before',
    'after',
    'address',
    'at',
    'role',
    'scopes',
    'models',
    'from',
    'to',
  ].concat(
    [
      'endsAt',
      'lastUsedAt',
      'lastFour',
      'lastsUntil',
      'cost',
      'requests',
      'credit',
      'reversal',
      'amount',
      'currency',
      'undoes',
    ],
    ['what', 'scope', 'window', 'kind', 'balance', 'threshold', 'spent', 'limit', 'median', 'today'],
  ),
)

/** Where texts stand in the facts of a mail. */
function textsOf(facts: unknown, path: readonly string[] = []): string[][] {
  if (typeof facts === 'string') return [[...path]]
  if (typeof facts !== 'object' || facts === null) return []
  return Object.entries(facts).flatMap(([name, value]) => textsOf(value, [...path, name]))
}

function textsOfUsers(facts: unknown): string[][] {
  // Of a pair, the name comes first; the second is an amount.
  return textsOf(facts).filter((path) => !path.some((name) => OURS.has(name)) && path.at(-1) !== '1')
}

function replaced(facts: unknown, [name, ...rest]: readonly string[], text: string): unknown {
  if (name === undefined) return text
  const copy = structuredClone(facts) as Record<string, unknown>
  copy[name] = replaced(copy[name], rest, text)
  return copy
}

test('every kind of mail has a sample', () => {
  expect(SAMPLES.map(({ kind }) => kind).sort()).toEqual([...MAIL_KINDS].sort())
})

describe('a link', () => {
  test('a mail’s link has its token after #, so that no server or log sees the token', () => {
    const { link } = render({ kind: 'reset_password', facts: {} }, { token: 'a&b=c#d/?e' })
    const url = new URL(link ?? '')
    expect(url.search).toBe('')
    expect(url.pathname).toBe('/base/dashboard/reset-password')
    expect(new URLSearchParams(url.hash.slice(1)).get('token')).toBe('a&b=c#d/?e')
  })

  test('a mail’s link is on its own line in the text, and the button of the HTML leads to it', () => {
    const { text, html } = render({ kind: 'verify_email', facts: {} }, { token: 'abc' })
    expect(text.split('\n')).toContain(LINK)
    expect(html).toContain(`<a class="button" href="${LINK}">`)
  })
})

describe('a mail', () => {
  test.each([
    ['verify_email', '24 hours'],
    ['reset_password', 'one hour'],
    ['already_registered', 'one hour'],
    ['confirm_address', '24 hours'],
  ] as const)('the mail %s says how long its link works', (kind, time) => {
    const { text, html } = render({ kind, facts: {} }, { token: 'abc' })
    expect(text).toContain(time)
    expect(html).toContain(time)
  })

  test.each(SAMPLES)('a mail of the kind $kind has a subject and a heading of one line each', (sample) => {
    const { subject, text, html } = render(sample)
    expect(subject).not.toMatch(/[\r\n]/)
    expect(text.endsWith('\n')).toBe(true)
    expect(html.match(/<h1>/g)).toHaveLength(1)
    expect(text).not.toContain('undefined')
  })

  test.each(SAMPLES)(
    'a mail of the kind $kind turns no name that a stranger chose into a link, a line or markup',
    (sample) => {
      const evil = `Win <b>now</b> at https://evil.example/x\r\nBcc: a@evil.example\n\n${'x'.repeat(200)}`
      const names = ['accountName', 'invitedBy', 'askedBy', 'browser', 'scopeName', 'keyName']
      const facts = Object.fromEntries(
        Object.entries(sample.facts).map(([name, value]) => {
          if (name === 'alerts' && Array.isArray(value))
            return [name, value.map((one) => ({ ...one, facts: { ...one.facts, accountName: evil, keyName: evil } }))]
          if (Array.isArray(value) && name !== 'models') return [name, value.map(([, amount]) => [evil, amount])]
          return [name, names.includes(name) ? evil : value]
        }),
      )
      const plain = render(sample)
      const { subject, text, html } = render({ kind: sample.kind, facts } as NewMail)
      expect(text.split('\n')).toHaveLength(plain.text.split('\n').length)
      for (const part of [subject, text, html])
        for (const bad of ['https://evil', 'a@evil', '<b>']) expect(part).not.toContain(bad)
      expect(html.match(/<(?:a|p|tr)\b/g)).toEqual(plain.html.match(/<(?:a|p|tr)\b/g))
    },
  )

  test.each(SAMPLES)(
    'a mail of the kind $kind turns no text of users into a link, whichever dots it contains',
    (sample) => {
      for (const [dot, slash, gap] of WRITINGS) {
        const evil = `evil${gap}${dot}${gap}example${slash}x`
        const linking = textsOfUsers(sample.facts).filter((path) => {
          const facts = replaced(sample.facts, path, evil)
          const { subject, text } = render({ kind: sample.kind, facts } as NewMail)
          return LINK_OF_EVIL.test(`${subject}\n${text}`.normalize('NFKC').replace(/\p{Cf}/gu, ''))
        })
        expect(linking).toEqual([])
      }
    },
  )

  test.each(SAMPLES)(
    'a mail of the kind $kind has no link if the host is unknown, and names the page instead',
    (sample) => {
      const { text, html, link } = render(sample, { baseUrl: undefined })
      const pages = contentOf(sample.kind, sample.facts).blocks.flatMap((block) =>
        'page' in block ? [block.page] : [],
      )
      expect([link, html.match(/<a\b|href/g)]).toEqual([undefined, null])
      for (const page of pages) {
        const words = `sign in where you use this service, and open the page /dashboard/${page} there.`
        expect(text).toContain(words)
        expect(html).toContain(escapeHtml(words))
      }
      expect(text).not.toContain('undefined')
      expect(text.trimEnd().split('\n').at(-1)).toBe('svc')
    },
  )

  test('an invitation mail shows a plain name', () => {
    const facts = { accountName: 'Müller & Söhne GmbH', invitedBy: 'Ada', role: 'admin', days: 7 }
    const { subject, html } = render({ kind: 'invitation', facts })
    expect(subject).toBe('You are invited to Müller & Söhne GmbH')
    expect(html).toContain('<h1>You are invited to Müller &#38; Söhne GmbH</h1>')
  })

  test('a mail that a stranger may have requested contains no personal data except its address', () => {
    for (const kind of [
      'verify_email',
      'reset_password',
      'already_registered',
      'confirm_address',
      'address_in_use',
    ] as const)
      expect(Object.keys(SAMPLES.find((sample) => sample.kind === kind)?.facts ?? { none: 1 })).toEqual([])
  })

  test('a mail about a changed address explains how to undo the change, and does not contain the new address', () => {
    const facts = { address: '203.0.113.7', at: '2026-03-01T10:20:30.000Z', after: maskedAddress('ada@new.example') }
    const undone = render({ kind: 'address_changed', facts: { ...facts, undoDays: 7 } }, { token: 'abc' })
    expect(undone.link).toBe('https://pay.example.test/base/dashboard/undo-address#token=abc')
    for (const part of [undone.text, undone.html])
      for (const words of ['a***@new.example', 'within 7 days', '203.0.113.7']) expect(part).toContain(words)
    const final = render({ kind: 'address_changed', facts: { ...facts, undoDays: 0 } })
    expect(final.text).not.toContain('undo')
    expect(final.text).toContain('contact the operator')
  })

  test('a mail that can be turned off has a link for turning it off', () => {
    const url = 'https://pay.example.test/unsubscribe?t=1&u=2'
    const { text, html } = render({ kind: 'verify_email', facts: {} }, { optional: { unsubscribeUrl: url } })
    expect(text.trimEnd().split('\n').at(-1)).toBe(`No more mails of this kind: ${url}`)
    expect(html).toContain('href="https://pay.example.test/unsubscribe?t=1&#38;u=2"')
  })

  test('without a public URL, an alert mail names the page for turning alerts off', () => {
    const surroundings = { baseUrl: undefined, optional: { unsubscribeUrl: undefined } }
    const { text, html } = render({ kind: 'verify_email', facts: {} }, surroundings)
    const words =
      'No more mails of this kind: sign in where you use this service, and open the page /dashboard/alerts there.'
    expect(text.trimEnd().split('\n').at(-1)).toBe(words)
    expect(html).toContain(`<br>${words}</p>`)
  })
})

test('a mail has the operator’s colour and links, as text and as HTML', () => {
  const sample = SAMPLES.find(({ kind }) => kind === 'verify_email')
  if (!sample) throw new Error('there is a sample of each kind')
  const brand = {
    ...{ name: 'Acme', color: '#0f766e', logoPath: undefined, supportEmail: 'help@example.test' },
    ...{ termsUrl: 'https://example.test/terms?a=1&b=2', privacyUrl: undefined },
  }
  const { text, html } = render(sample, { service: 'Acme', brand })
  expect(text).toEndWith(
    '-- \nAcme, https://pay.example.test/base\nTerms: https://example.test/terms?a=1&b=2\nSupport: help@example.test\n',
  )
  expect(html).toContain('<a href="https://example.test/terms?a=1&#38;b=2">Terms</a>')
  expect(html).toContain('<a href="mailto:help@example.test">Support</a>')
  expect(html).toContain('background:#0f766e')
  expect(html).not.toMatch(/#4f46e5|#4338ca|#a5b4fc/)
})
