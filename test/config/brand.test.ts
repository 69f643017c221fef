/** The settings of the operator's brand: what is accepted, and why a colour is refused. */
import { expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { loadConfig } from '@/config/config'
import { brandShades, GROUNDS } from '@/lib/brand'
import { contrastOf, TEXT_CONTRAST } from '@/lib/color'
import { faultsOf } from './read-settings'

const SETTINGS = {
  BRAND_NAME: 'Müller & Söhne AI',
  BRAND_COLOR: '#0f766e',
  BRAND_LOGO: '/etc/logo.svg',
  SUPPORT_EMAIL: 'help@example.test',
  TERMS_URL: 'https://example.test/terms?a=1&b=2',
  PRIVACY_URL: 'https://example.test/privacy',
}

test('brand settings are read from the environment, and are unset by default', () => {
  expect(loadConfig(SETTINGS)).toMatchObject({
    config: { brand: { name: 'Müller & Söhne AI', color: '#0f766e', supportEmail: 'help@example.test' } },
  })
  expect(loadConfig({})).toMatchObject({ config: { brand: { name: undefined, color: undefined } } })
})

test.each([
  ['BRAND_NAME', 'a:b'],
  ['BRAND_NAME', ' padded'],
  ['BRAND_NAME', '<b>'],
  ['BRAND_NAME', 'x'.repeat(41)],
  ['BRAND_COLOR', 'red'],
  ['BRAND_COLOR', '#123'],
  ['SUPPORT_EMAIL', 'nobody'],
  ['SUPPORT_EMAIL', 'a@b?subject=x'],
  ['TERMS_URL', 'javascript:alert(1)'],
  ['PRIVACY_URL', '/privacy'],
])('%s=%s stops the start', (name, value) => {
  expect(faultsOf({ [name]: value })).toEqual([expect.stringContaining(`${name}: expected`)])
})

test('a brand colour without the contrast of WCAG AA is refused, with both ratios in the error', () => {
  expect(faultsOf({ BRAND_COLOR: '#ffcc00' })).toEqual([
    expect.stringMatching(/^BRAND_COLOR: .*4\.5:1; #ffcc00 has 1\.4\d:1 .* light scheme.* and 1\.5\d:1 .* dark scheme/),
  ])
  expect(faultsOf({ BRAND_COLOR: '#000000' })).toEqual([])
})

test('contrastOf gives the values of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21, 5)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  expect(contrastOf('#4f46e5', '#4f46e5')).toBe(1)
})

test('every accepted colour has shades that are readable as links in both schemes', () => {
  const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
  fc.assert(
    fc.property(color, (value) => {
      fc.pre(faultsOf({ BRAND_COLOR: value }).length === 0)
      const shades = brandShades({ color: value })
      if (!shades) throw new Error('a colour has shades')
      expect(shades[6]).toBe(value)
      for (const dark of [shades[6], shades[7], shades[9]]) {
        expect(contrastOf(dark, GROUNDS.light)).toBeGreaterThanOrEqual(TEXT_CONTRAST)
        expect(contrastOf(dark, '#ffffff')).toBeGreaterThanOrEqual(TEXT_CONTRAST)
      }
      for (const light of [shades[3], shades[4]]) {
        expect(contrastOf(light, GROUNDS.dark)).toBeGreaterThanOrEqual(TEXT_CONTRAST)
      }
    }),
  )
})
