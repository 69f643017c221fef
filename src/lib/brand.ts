/** The operator's own name, logo, colour and links, which customers see instead of the program's. */
import { shadesOf } from './color'

/** The program's name, used if no brand is configured. */
export const PROGRAM_NAME = 'svc-gateway'

/** The operator's settings; undefined: the program's own. */
export type Brand = {
  name: string | undefined
  /** As #rrggbb. */
  color: string | undefined
  /** The path of an SVG or PNG file. */
  logoPath: string | undefined
  supportEmail: string | undefined
  termsUrl: string | undefined
  privacyUrl: string | undefined
}

/** The operator's settings, with the logo that was checked. */
export type SiteBrand = Brand & { logo: Logo | undefined }

/** A checked logo for pages. `name` changes with the content. */
export type Logo = { name: string; contentType: string; body: Uint8Array<ArrayBuffer> }

/** The backgrounds of coloured text: the page in the light scheme, raised surfaces in the dark one. */
export const GROUNDS = { light: '#fbfbfd', dark: '#1f232c' } as const

/** Ten shades of the operator's colour; the seventh is the colour itself. Undefined: the program's colours. */
export function brandShades({ color }: Pick<Brand, 'color'>): ReturnType<typeof shadesOf> | undefined {
  return color === undefined ? undefined : shadesOf(color, GROUNDS.dark)
}

/** A link for customers: terms, privacy, support. */
type BrandLink = { label: string; href: string }

/** The links that are set. */
export function brandLinks({ termsUrl, privacyUrl, supportEmail }: Partial<Brand>): BrandLink[] {
  const links = [
    { label: 'Terms', href: termsUrl },
    { label: 'Privacy', href: privacyUrl },
    { label: 'Support', href: supportEmail && `mailto:${supportEmail}` },
  ]
  return links.flatMap(({ label, href }) => (href === undefined ? [] : [{ label, href }]))
}

/** The brand's data for a page's scripts. A `meta` element of the page contains it. */
export type PageBrand = {
  name: string
  logo: string | undefined
  shades: ReturnType<typeof brandShades>
  links: readonly BrandLink[]
  termsUrl: string | undefined
}

/** The name of the `meta` element. */
export const BRAND_META = 'brand'

/** The path of the logo; undefined if there is none. */
export function logoPathOf({ logo }: SiteBrand): string | undefined {
  return logo && `/dashboard/assets/${logo.name}`
}

/** The data of `brand` for a page's scripts. */
export function pageBrandOf(brand: SiteBrand): PageBrand {
  return {
    name: brand.name ?? PROGRAM_NAME,
    logo: logoPathOf(brand),
    shades: brandShades(brand),
    links: brandLinks(brand),
    termsUrl: brand.termsUrl,
  }
}
