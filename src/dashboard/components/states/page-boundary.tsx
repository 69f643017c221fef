/** Keeps a page that fails from taking the menu with it. */
import type { ReactNode } from 'react'
import { ErrorBoundary } from 'react-error-boundary'
import { ErrorState } from './error-state'

export function PageBoundary({ children }: { children: ReactNode }) {
  return (
    <ErrorBoundary
      fallbackRender={({ error, resetErrorBoundary }) => (
        <ErrorState error={error instanceof Error ? error : new Error(String(error))} retry={resetErrorBoundary} />
      )}
    >
      {children}
    </ErrorBoundary>
  )
}
