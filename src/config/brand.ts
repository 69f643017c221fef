/** The settings of the operator's own name, logo, colour and links. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { type Brand, GROUNDS } from '@/lib/brand'
import { contrastOf, TEXT_CONTRAST } from '@/lib/color'
import type { Fault } from '@/lib/fault'
import { line, optional } from './variables'

const WebAddress = Type.String({
  pattern: '^https?://[^\\s<>"\']+$',
  maxLength: 500,
  description: 'an http:// or https:// address',
})

export const BRAND_VARIABLES = {
  BRAND_NAME: optional(
    Type.String({
      pattern: '^[^\\s\\x00-\\x1f:<>"](?:[^\\x00-\\x1f:<>"]{0,38}[^\\s\\x00-\\x1f:<>"])?$',
      description: 'a name of at most 40 characters in one line, without : < > "',
    }),
  ),
  BRAND_LOGO: optional(line(4_096, 'the path of an SVG or PNG file')),
  BRAND_COLOR: optional(Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: 'a colour such as #1d4ed8' })),
  SUPPORT_EMAIL: optional(
    Type.String({ pattern: '^[^\\s@<>"?&]+@[^\\s@<>"?&]+$', maxLength: 254, description: 'an e-mail address' }),
  ),
  TERMS_URL: optional(WebAddress),
  PRIVACY_URL: optional(WebAddress),
}

/** Reports a brand colour in which text or buttons are unreadable. */
export function brandFaults({ BRAND_COLOR: color }: Record<string, unknown>): Fault[] {
  if (typeof color !== 'string') return []
  // In the dark scheme links are lightened, and buttons have this colour under white labels.
  const [light, dark] = [contrastOf(color, GROUNDS.light), contrastOf(color, '#ffffff')]
  if (Math.min(light, dark) >= TEXT_CONTRAST) return []
  const message =
    `expected a darker colour: WCAG AA asks for a contrast of ${TEXT_CONTRAST}:1; ${color} has ${light.toFixed(2)}:1 as text on the ` +
    `light scheme's pages, and ${dark.toFixed(2)}:1 under the white labels of the dark scheme's buttons`
  return [{ place: 'BRAND_COLOR', message }]
}

/** The brand settings from validated variables. */
export function toBrand(values: Static<TObject<typeof BRAND_VARIABLES>>): Brand {
  return {
    name: values.BRAND_NAME,
    color: values.BRAND_COLOR,
    logoPath: values.BRAND_LOGO,
    supportEmail: values.SUPPORT_EMAIL,
    termsUrl: values.TERMS_URL,
    privacyUrl: values.PRIVACY_URL,
  }
}
