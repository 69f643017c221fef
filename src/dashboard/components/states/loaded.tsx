/** The three states of what is asked from the server, told the same way on every page. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from './error-state'
import { LoadingRows } from './loading-rows'

type LoadedProps<Data> = {
  query: UseQueryResult<Data>
  /** Shown until the first answer; rows of a list unless given. */
  waiting?: ReactNode
  children: (data: Data) => ReactNode
}

/** Shows `children` of the data; the last answer stays while a newer one is asked for. */
export function Loaded<Data>({ query, waiting, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <ErrorState error={query.error} retry={query.refetch} />
  return <>{waiting ?? <LoadingRows />}</>
}
