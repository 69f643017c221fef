/** A list of labelled values, such as an order's data. */
import { Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'

type Fact = readonly [name: string, value: ReactNode]

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <Box
      component="dl"
      m={0}
      style={{ display: 'grid', gridTemplateColumns: 'minmax(96px, auto) 1fr', gap: '6px 20px' }}
    >
      {facts.map(([name, value]) => (
        <Box key={name} style={{ display: 'contents' }}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0} miw={0} className="wrap-anywhere">
            {value}
          </Text>
        </Box>
      ))}
    </Box>
  )
}
