/** An error boundary: if a page crashes, the menu stays. */
import type { ReactNode } from 'react'
import { ErrorBoundary } from 'react-error-boundary'
import { Page } from '@/dashboard/components/page'
import { MissingFileError, reloadPage } from '@/dashboard/load-page'
import { ErrorState } from './error-state'

export function PageBoundary({ children }: { children: ReactNode }) {
  return (
    <ErrorBoundary
      fallbackRender={({ error, resetErrorBoundary }) => (
        <Page title="This page can't be shown">
          <ErrorState
            error={error instanceof Error ? error : new Error(String(error))}
            retry={error instanceof MissingFileError ? reloadPage : resetErrorBoundary}
          />
        </Page>
      )}
    >
      {children}
    </ErrorBoundary>
  )
}
