/** The dashboard's files as they are served: hashed names, compressed beforehand, held in memory. */

/** One file. `brotli` and `gzip` are its bodies compressed. */
export type Asset = { contentType: string; body: Uint8Array; brotli: Uint8Array; gzip: Uint8Array }

/** Everything a browser loads. The names in `files` carry a hash of the content; `page` is the one document of all pages. */
export type DashboardAssets = { page: string; files: ReadonlyMap<string, Asset> }

/** Hands out the files, waiting for them where they are still being built; rejects where they can't be. */
export type LoadAssets = () => Promise<DashboardAssets>
