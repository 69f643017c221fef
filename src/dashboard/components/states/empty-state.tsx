/** The placeholder of an empty list: its purpose, and a button for the first entry. */
import { Button, Center, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ComponentType, ReactNode } from 'react'

type EmptyStateProps = {
  icon: ComponentType<{ size?: number; stroke?: number }>
  title: string
  children?: ReactNode
  action?: ReactNode
  clear?: () => void
}

export function EmptyState({ icon: Icon, title, children, action, clear }: EmptyStateProps) {
  return (
    <Center p="xl">
      <Stack align="center" gap="sm" maw={420}>
        <ThemeIcon variant="light" size={48} radius="xl" aria-hidden="true">
          <Icon size={24} stroke={1.6} />
        </ThemeIcon>
        <Text fw={600} ta="center">
          {title}
        </Text>
        {children !== undefined && (
          <Text size="sm" c="dimmed" ta="center" component="div">
            {children}
          </Text>
        )}
        {action}
        {clear && (
          <Button variant="default" onClick={clear}>
            Clear filters
          </Button>
        )}
      </Stack>
    </Center>
  )
}
