/** Loads the file of a page at its first visit. An upgrade replaces these files, so a tab that was open before may lack one. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

/** In the session's storage while a reload for a missing file is under way, so that it happens once. */
const RELOADED = 'svc-reloaded-for-a-file'

/** The file of a page could not be fetched, also not after a reload. The browser keeps that result: only a reload fetches again. */
export class MissingFileError extends Error {
  override readonly name = 'MissingFileError'
}

/**
 * A component whose file is fetched when it is first shown. If that fails, the whole page is reloaded once, which also fetches the names of
 * the files of a newer version. If it fails again, throws a {@link MissingFileError} while drawing.
 */
export function lazyPage<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      const loaded = { default: await load() }
      sessionStorage.removeItem(RELOADED)
      return loaded
    } catch (error) {
      if (sessionStorage.getItem(RELOADED) === null) {
        sessionStorage.setItem(RELOADED, 'once')
        location.reload()
        // The page ends with the reload; until then it keeps its spinner.
        return await new Promise<never>(() => {})
      }
      throw new MissingFileError(
        'This page could not be fetched. The service may be out of reach, or it was just updated. Reload the page to try again.',
        { cause: error },
      )
    }
  })
}

/** Fetches everything again, with another reload allowed if a file is missing still. */
export function reloadPage(): void {
  sessionStorage.removeItem(RELOADED)
  location.reload()
}
