/** The button at the end of a list that loads more entries, or the error if that failed. */
import { Button, Center } from '@mantine/core'
import { ErrorState } from '@/dashboard/components/states/error-state'

type ShowMoreProps = {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError?: boolean
  error?: Error | null
  fetchNextPage(): unknown
}

export function ShowMore({
  hasNextPage,
  isFetchingNextPage,
  isFetchNextPageError,
  error,
  fetchNextPage,
}: ShowMoreProps) {
  if (isFetchNextPageError && error) return <ErrorState error={error} retry={fetchNextPage} />
  if (!hasNextPage) return null
  return (
    <Center p="md">
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </Center>
  )
}
