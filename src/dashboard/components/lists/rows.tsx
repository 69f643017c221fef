/** A list whose entries stand below each other, with a fine line between them. */
import { Box, type BoxProps, Group, type GroupProps, Stack } from '@mantine/core'
import type { ReactNode } from 'react'

/** `isOrdered` where the order means something, e.g. newest first. */
export function Rows({ isOrdered = false, children }: { isOrdered?: boolean; children: ReactNode }) {
  return (
    <Stack component={isOrdered ? 'ol' : 'ul'} gap={0} p={0} m={0} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  )
}

const LINE = { borderTop: '1px solid var(--hairline)' }

/** One entry. */
export function Row({ children, ...look }: BoxProps & { children: ReactNode }) {
  return (
    <Box component="li" px="lg" py="sm" style={LINE} {...look}>
      {children}
    </Box>
  )
}

/** One entry with its parts at both ends. */
export function SplitRow({ children, ...look }: GroupProps) {
  return (
    <Group component="li" justify="space-between" gap="sm" px="lg" py="sm" style={LINE} {...look}>
      {children}
    </Group>
  )
}
