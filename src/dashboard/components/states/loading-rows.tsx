/** Grey placeholder rows, shown while a list loads. */
import { Skeleton, Stack } from '@mantine/core'

const ROW_HEIGHT = 36

export function LoadingRows({ rows = 5 }: { rows?: number }) {
  const numbers = Array.from({ length: rows }, (_, index) => index + 1)
  return (
    <Stack gap="xs" className="state" role="status" aria-label="Loading">
      {numbers.map((number) => (
        <Skeleton key={number} height={ROW_HEIGHT} radius="sm" />
      ))}
    </Stack>
  )
}
