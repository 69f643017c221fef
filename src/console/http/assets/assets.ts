/** The pages' files as they are served: hashed names, compressed beforehand, held in memory. */
import type { Asset } from '@/http/asset'

/**
 * Everything a browser loads. The names in `files` carry a hash of the content; `page` is the one document of the dashboard's
 * pages, `docsPage` that of the documentation, `icon` the name of the icon of both.
 */
export type DashboardAssets = { page: string; docsPage: string; icon: string; files: ReadonlyMap<string, Asset> }

/** Hands out the files, waiting for them where they are still being built; rejects where they can't be. */
export type LoadAssets = () => Promise<DashboardAssets>
