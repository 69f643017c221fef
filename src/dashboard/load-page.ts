/** Loads a page's file at its first visit. After an upgrade the file may be missing for a tab that was open before. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

/** Set in the session storage while the page reloads for a missing file, to prevent a second reload. */
const RELOADED = 'svc-reloaded-for-a-file'

/** A page's file could not be loaded, even after a reload. The browser caches the failure, so only another reload loads it again. */
export class MissingFileError extends Error {
  override readonly name = 'MissingFileError'
}

/** A component loaded when first rendered. A failure reloads the document once, then throws a {@link MissingFileError}. */
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
        // Never resolves: the spinner stays until the document reloads.
        return await new Promise<never>(() => {})
      }
      throw new MissingFileError(
        'This page could not be fetched. The service may be out of reach, or it was just updated. Reload the page to try again.',
        { cause: error },
      )
    }
  })
}

/** Reloads the document, and allows another reload for a missing file. */
export function reloadPage(): void {
  sessionStorage.removeItem(RELOADED)
  location.reload()
}
