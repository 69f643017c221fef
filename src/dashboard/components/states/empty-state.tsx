/** What a list shows that has nothing in it yet: what would be here, and how to get it. */
import { Button, Center, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ComponentType, ReactNode } from 'react'

type EmptyStateProps = {
  icon: ComponentType<{ size?: number; stroke?: number }>
  title: string
  /** What to do next, in a sentence. */
  children?: ReactNode
  action?: ReactNode
  /** Shows all again, where filters are why nothing is here. */
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
