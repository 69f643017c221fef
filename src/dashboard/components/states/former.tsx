/** Shows the previous result paler, and marked as busy, until the new one has loaded. */
import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'

export function Former({ isFormer, children }: { isFormer: boolean; children: ReactNode }) {
  return (
    <Stack gap="lg" aria-busy={isFormer} opacity={isFormer ? 0.6 : 1}>
      {children}
    </Stack>
  )
}
