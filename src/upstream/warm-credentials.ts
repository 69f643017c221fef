import type { LiveCatalog } from '@/catalog/reload/live-catalog'
import type { Catalog } from '@/catalog/types'
import type { Logger } from '@/lib/logger'

/** Gets all used providers' credentials, now and after each reload, and logs invalid ones. Requests don't wait for a failing source. */
export function warmCredentials(catalog: LiveCatalog, logger: Logger): void {
  const warm = ({ providers, warnings = [] }: Catalog) => {
    for (const { dialect } of providers.values()) dialect.authorizer?.warm()
    for (const { place, message } of warnings) logger.warn('provider_not_offered', { place, message })
  }
  warm(catalog.current)
  catalog.onReplaced(warm)
}
