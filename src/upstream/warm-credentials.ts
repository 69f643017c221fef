/** Credentials that are asked for: got before the first call, which needn't wait then. */

import type { LiveCatalog } from '@/catalog/reload/live-catalog'
import type { Catalog } from '@/catalog/types'

/** Begins to get the credentials of the providers that are sold from, now and after each reload. Who gives none holds nobody up. */
export function warmCredentials(catalog: LiveCatalog): void {
  const warm = ({ providers }: Catalog) => {
    for (const { dialect } of providers.values()) dialect.authorizer?.warm()
  }
  warm(catalog.current)
  catalog.onReplaced(warm)
}
