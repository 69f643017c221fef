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

/** Shows a query's states: loading, failed, or `children` with the data. The last data stay while newer data load. */
export function Loaded<Data>({ query, waiting, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <ErrorState error={query.error} retry={query.refetch} />
  return <>{waiting ?? <LoadingRows />}</>
}
