/** The operator's name, logo, colour and links, as the gateway writes them into the page. */
import { BRAND_META, type PageBrand } from '@/lib/brand'

const meta = document.querySelector(`meta[name="${BRAND_META}"]`)

/** The brand of this page. */
export const BRAND: PageBrand = JSON.parse(meta?.getAttribute('content') ?? '{}')
