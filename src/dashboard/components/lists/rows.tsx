/** A vertical list, with lines or gaps between its entries. */
import { Box, type BoxProps, Group, type GroupProps, Stack, type StackProps } from '@mantine/core'
import type { ReactNode } from 'react'

type RowsProps = {
  isOrdered?: boolean
  gap?: StackProps['gap']
  children: ReactNode
}

/** The list. Its entries are {@link Row}s, or other `li` elements. */
export function Rows({ isOrdered = false, gap = 0, children }: RowsProps) {
  return (
    <Stack component={isOrdered ? 'ol' : 'ul'} gap={gap} p={0} m={0} style={{ listStyle: 'none' }}>
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

/** One entry with one part at each end of the line. */
export function SplitRow({ children, ...look }: GroupProps) {
  return (
    <Group component="li" justify="space-between" gap="sm" px="lg" py="sm" style={LINE} {...look}>
      {children}
    </Group>
  )
}
