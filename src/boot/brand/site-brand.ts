/** Combines the operator's brand settings with the logo read from its file. */
import { FatalStartError } from '@/boot/fatal-start-error'
import type { Brand, SiteBrand } from '@/lib/brand'
import { formatFaults } from '@/lib/fault'
import { readLogo } from './read-logo'

/** Reads the logo. Throws a FatalStartError if the file became faulty after the settings were checked. */
export async function brandOf(brand: Brand): Promise<SiteBrand> {
  if (brand.logoPath === undefined) return { ...brand, logo: undefined }
  const read = await readLogo(brand.logoPath)
  if (read.kind === 'read') return { ...brand, logo: read.logo }
  throw new FatalStartError(
    formatFaults('The configuration has faults:', [{ place: 'BRAND_LOGO', message: read.message }]),
  )
}
