/** What answers the question before, until the answer to the present one is there: paler, and said to be busy. */
import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'

/** Its children stand below each other as on a page. */
export function Former({ isFormer, children }: { isFormer: boolean; children: ReactNode }) {
  return (
    <Stack gap="lg" aria-busy={isFormer} opacity={isFormer ? 0.6 : 1}>
      {children}
    </Stack>
  )
}
