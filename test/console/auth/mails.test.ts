/** The mails: whom they are for, where their links lead, and that their words keep what the tokens promise. */
import { describe, expect, test } from 'bun:test'
import {
  alreadyRegisteredMail,
  invitationMail,
  linkTo,
  resetMail,
  secondStepChangedMail,
  verificationMail,
} from '@/console/auth/mails'

const LINK = 'https://pay.example.test/dashboard/verify-email#token=abc'
/** Whatever Host header somebody sends is part of the address. */
const visitor = { request: new Request('http://gateway.test/dashboard/api/session') }

describe('a link', () => {
  test('leads to the configured address, and only without one to where the request was sent', () => {
    expect(linkTo({ publicUrl: undefined }, visitor, 'verify-email', 'abc')).toBe(
      'http://gateway.test/dashboard/verify-email#token=abc',
    )
    expect(linkTo({ publicUrl: 'https://pay.example.test' }, visitor, 'verify-email', 'abc')).toBe(LINK)
  })

  test('carries its token where no server and no log sees it, and no token can leave that place', () => {
    const url = new URL(linkTo({ publicUrl: undefined }, visitor, 'reset-password', 'a&b=c#d/?e'))
    expect(url.search).toBe('')
    expect(url.pathname).toBe('/dashboard/reset-password')
    expect(new URLSearchParams(url.hash.slice(1)).get('token')).toBe('a&b=c#d/?e')
  })
})

describe('a mail', () => {
  test.each([
    ['to confirm an address', verificationMail, '24 hours'],
    ['to choose a new password', resetMail, 'one hour'],
    ['to somebody who has an account already', alreadyRegisteredMail, 'one hour'],
  ] as const)('%s holds its link on a line of its own, and says how long it works', (_, write, time) => {
    const { to, subject, text, link } = write('ada@example.test', LINK)
    expect(to).toBe('ada@example.test')
    expect(link).toBe(LINK)
    expect(text.split('\n')).toContain(LINK)
    expect(text).toContain(time)
    expect(text.endsWith('\n')).toBe(true)
    expect(subject).not.toContain('\n')
  })

  test('of an invitation makes no link and no line of what strangers call themselves', () => {
    const names = {
      accountName: 'Win at https://evil.example/x\n\nOpen <evil.example>',
      invitedBy: `www.evil.example\r\nBcc: a@evil.example ${'x'.repeat(200)}`,
    }
    const { text, subject } = invitationMail('ada@example.test', LINK, { ...names, role: 'viewer', days: 7 })
    const others = text.replace(LINK, '')
    for (const part of ['://', 'evil.example', '@', '<', 'x'.repeat(100)]) expect(others).not.toContain(part)
    expect(text.split('\n')).toHaveLength(6)
    expect(text.split('\n')).toContain(LINK)
    expect(subject).not.toMatch(/[\r\n]/)
    const plain = { accountName: 'Müller & Söhne GmbH', invitedBy: 'Ada', role: 'admin', days: 7 }
    expect(invitationMail('ada@example.test', LINK, plain)).toMatchObject({
      ...{ subject: 'You are invited to Müller & Söhne GmbH', link: LINK },
      text: expect.stringContaining('7 days'),
    })
  })

  test('of a changed second step says what changed and where to go', () => {
    const { text, link } = secondStepChangedMail('ada@example.test', LINK, 'The app was removed.')
    expect(text.split('\n')).toContain(link)
    expect(text).toStartWith('The app was removed.\n')
  })

  test('says nothing of the person beyond the address it is sent to', () => {
    for (const write of [verificationMail, resetMail, alreadyRegisteredMail]) {
      const { subject, text } = write('ada@example.test', LINK)
      expect(subject + text).not.toContain('ada')
    }
  })
})
