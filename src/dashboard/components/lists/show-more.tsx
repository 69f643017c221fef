/** The button at the end of a list that has more. */
import { Button, Center } from '@mantine/core'

type ShowMoreProps = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }

export function ShowMore({ hasNextPage, isFetchingNextPage, fetchNextPage }: ShowMoreProps) {
  if (!hasNextPage) return null
  return (
    <Center p="md">
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </Center>
  )
}
