/** A page of the dashboard: title (also the window's), description, actions and content. */
import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { BRAND } from '@/dashboard/brand'
import { BrandLinks } from './brand-links'

type PageProps = {
  title: string
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

const MAX_WIDTH = 1160

export function Page({ title, description, actions, children }: PageProps) {
  useDocumentTitle(`${title} · ${BRAND.name}`)
  return (
    <Box maw={MAX_WIDTH} mx="auto">
      <Stack gap="lg">
        <Group justify="space-between" align="flex-start" gap="md">
          <Box style={{ flex: '1 1 240px' }}>
            <Title order={1}>{title}</Title>
            {description !== undefined && (
              <Text c="dimmed" mt={4} component="div">
                {description}
              </Text>
            )}
          </Box>
          {actions !== undefined && (
            <Group gap="sm" className="no-print">
              {actions}
            </Group>
          )}
        </Group>
        {children}
      </Stack>
      <BrandLinks />
    </Box>
  )
}
