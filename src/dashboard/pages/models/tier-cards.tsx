/** Cards of the automatic tiers: one name that chooses a model for each request. */
import { Box, Button, Group, SimpleGrid, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import type { TierBody } from '@/dashboard/catalogue'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { formatCompact } from '@/dashboard/format'

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  smart: 'Reads each request and picks the model that fits it best.',
  cheap: 'Picks the cheapest model that can do it.',
  fast: 'Picks the model that answers soonest.',
}

/** One card for each tier. */
export function TierCards({ tiers }: { tiers: readonly TierBody[] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md" component="section" aria-label="Automatic tiers">
      {tiers.map((tier) => (
        <Box key={tier.id} className="surface" p="md">
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Box>
              <Title order={2} size="h5">
                {tier.name}
              </Title>
              <Group gap={6} wrap="nowrap">
                <Text size="xs" c="dimmed" ff="monospace">
                  {tier.id}
                </Text>
                <CopyIcon label={`Id of ${tier.name}`} value={tier.id} isSubtle />
              </Group>
            </Box>
            <Button
              component={Link}
              href={`/playground?model=${encodeURIComponent(tier.id)}`}
              variant="default"
              size="compact-sm"
              aria-label={`Try it: ${tier.name}`}
            >
              Try it
            </Button>
          </Group>
          <Text size="sm" mt="xs">
            {DESCRIPTIONS[tier.strategy] ?? 'Picks a model for each request.'}
          </Text>
          <Text size="sm" c="dimmed" mt={4}>
            {formatCompact(tier.contextLength)} context · {tier.candidates.length}{' '}
            {tier.candidates.length === 1 ? 'model' : 'models'} · you pay the chosen model’s price
          </Text>
        </Box>
      ))}
    </SimpleGrid>
  )
}
