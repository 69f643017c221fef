/** Gets credentials before the first call needs them, and logs invalid ones. */

import type { LiveCatalog } from '@/catalog/reload/live-catalog'
import type { Catalog } from '@/catalog/types'
import type { Logger } from '@/lib/logger'

/**
 * Starts fetching the credentials of all used providers, now and after each reload. A failing source delays no request; the catalogue's
 * warnings are logged.
 */
export function warmCredentials(catalog: LiveCatalog, logger: Logger): void {
  const warm = ({ providers, warnings = [] }: Catalog) => {
    for (const { dialect } of providers.values()) dialect.authorizer?.warm()
    for (const { place, message } of warnings) logger.warn('provider_not_offered', { place, message })
  }
  warm(catalog.current)
  catalog.onReplaced(warm)
}
