/** Shows the three states of a query: loading, failed, loaded. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from './error-state'
import { LoadingRows } from './loading-rows'

type LoadedProps<Data> = {
  query: UseQueryResult<Data>
  /** Shown while loading; default: the rows of a list. */
  waiting?: ReactNode
  children: (data: Data) => ReactNode
}

/** Renders `children` with the data; the last data stay while newer data load. */
export function Loaded<Data>({ query, waiting, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <ErrorState error={query.error} retry={query.refetch} />
  return <>{waiting ?? <LoadingRows />}</>
}
