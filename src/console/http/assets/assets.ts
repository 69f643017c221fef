/** The pages' files as served: with hashed names, compressed in advance, kept in memory. */
import type { Asset } from '@/http/asset'

/** All files for browsers: hashed `files`, the pages of dashboard and documentation, and the name of their `icon`. */
export type DashboardAssets = { page: string; docsPage: string; icon: string; files: ReadonlyMap<string, Asset> }

/** Returns the files, after their build has finished; rejects if it failed. */
export type LoadAssets = () => Promise<DashboardAssets>
