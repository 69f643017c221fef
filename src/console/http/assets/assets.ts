/** The pages' files as they are served: hashed names, compressed beforehand, held in memory. */
import type { Asset } from '@/http/asset'

/** Everything a browser loads: hashed `files`, `page` of the dashboard, `docsPage`, and the name of both's `icon`. */
export type DashboardAssets = { page: string; docsPage: string; icon: string; files: ReadonlyMap<string, Asset> }

/** Hands out the files, waiting for them where they are still being built; rejects if they can't be. */
export type LoadAssets = () => Promise<DashboardAssets>
