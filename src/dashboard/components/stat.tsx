/** A card with one figure and its label. */
import { Box, Group, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'

type StatProps = {
  label: string
  value: ReactNode | undefined
  hint?: ReactNode
  aside?: ReactNode
}

/** Small enough for a million dollars in a card, even if two more cards and the menu are beside it. */
const FONT_SIZE = 'clamp(18px, 2.2vw, 26px)'

export function Stat({ label, value, hint, aside }: StatProps) {
  return (
    <Box className="surface" p="md">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed">
          {label}
        </Text>
        {aside}
      </Group>
      <Text fz={FONT_SIZE} fw={650} lh={1.3} mt={4} className="figures wrap-anywhere" component="div">
        {value ?? <Skeleton height={26} width={90} my={4} />}
      </Text>
      {hint !== undefined && (
        <Text size="xs" c="dimmed" mt={2} component="div">
          {hint}
        </Text>
      )}
    </Box>
  )
}
