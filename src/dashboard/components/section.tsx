/** A framed part of a page with its own heading. */
import { Box, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type SectionProps = {
  title?: string
  description?: ReactNode
  actions?: ReactNode
  /** Without padding, for content that has padding itself, such as a table. */
  isFlush?: boolean
  children: ReactNode
}

export function Section({ title, description, actions, isFlush = false, children }: SectionProps) {
  return (
    <Box component="section" className="surface" p={isFlush ? 0 : 'lg'} mod={{ flush: isFlush }}>
      {(title !== undefined || actions !== undefined) && (
        <Group justify="space-between" align="flex-start" mb={isFlush ? 0 : 'md'} p={isFlush ? 'lg' : 0} gap="sm">
          <Stack gap={2} style={{ flex: '1 1 200px' }}>
            {title !== undefined && (
              <Title order={2} size="h4">
                {title}
              </Title>
            )}
            {description !== undefined && (
              <Text size="sm" c="dimmed" component="div">
                {description}
              </Text>
            )}
          </Stack>
          {actions}
        </Group>
      )}
      {children}
    </Box>
  )
}
