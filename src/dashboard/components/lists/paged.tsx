/** A paginated list with the same states (loading, failed, empty, more) on every page. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Former } from '@/dashboard/components/states/former'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { ShowMore } from './show-more'

type PagedProps<Item> = {
  query: UseInfiniteQueryResult<InfiniteData<{ items: Item[] }>>
  empty: ReactNode
  children: (items: Item[]) => ReactNode
}

export function Paged<Item>({ query, empty, children }: PagedProps<Item>) {
  if (query.isPending) return <LoadingRows />
  if (!query.data) return <ErrorState error={query.error} retry={query.refetch} />
  const items = query.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <>{empty}</>
  return (
    <>
      <Former isFormer={query.isPlaceholderData}>{children(items)}</Former>
      <ShowMore {...query} />
    </>
  )
}
