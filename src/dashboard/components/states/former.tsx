/** Shows the former result in pale colours, marked as busy, until the new result has loaded. */
import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'

export function Former({ isFormer, children }: { isFormer: boolean; children: ReactNode }) {
  return (
    <Stack gap="lg" aria-busy={isFormer} opacity={isFormer ? 0.6 : 1}>
      {children}
    </Stack>
  )
}
