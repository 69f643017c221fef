/** The models page: available models and their prices. */
import { Box, Button, Chip, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconListDetails, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { type ModelBody, type TierBody, useCatalogue } from '@/dashboard/catalogue'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatCompact } from '@/dashboard/format'
import { ModelDrawer } from './model-drawer'
import { CAPABILITY_NAMES, filterModels, type ModelFilter, type ModelOrder, ORDERS } from './model-filter'
import { ModelsTable } from './models-table'

const EVERYTHING: ModelFilter = { search: '', capabilities: [], order: 'catalogue' }

export function ModelsPage() {
  const query = useCatalogue()
  return (
    <Page
      title="Models"
      description="Prices are USD per 1,000,000 tokens. Every chat model works with all four API formats."
    >
      <Loaded query={query}>{({ models, tiers }) => <Catalogue models={models} tiers={tiers} />}</Loaded>
    </Page>
  )
}

function Catalogue({ models, tiers }: { models: readonly ModelBody[]; tiers: readonly TierBody[] }) {
  const [filter, setFilter] = useState(EVERYTHING)
  const [opened, setOpened] = useState<ModelBody>()
  const found = filterModels(models, filter)
  return (
    <Stack gap="lg">
      {tiers.length > 0 && <TierCards tiers={tiers} />}
      <Section
        title="All models"
        description={`${found.length} of ${models.length}`}
        isFlush
        actions={<Filters models={models} filter={filter} change={setFilter} />}
      >
        {found.length === 0 ? (
          <EmptyState icon={IconListDetails} title="No model matches">
            {models.length === 0 ? 'No provider is configured.' : 'Try another word, or fewer capabilities.'}
          </EmptyState>
        ) : (
          <ModelsTable models={found} open={setOpened} />
        )}
      </Section>
      <ModelDrawer model={opened} close={() => setOpened(undefined)} />
    </Stack>
  )
}

type FiltersProps = { models: readonly ModelBody[]; filter: ModelFilter; change(filter: ModelFilter): void }

function Filters({ models, filter, change }: FiltersProps) {
  const offered = Object.keys(CAPABILITY_NAMES).filter((name) =>
    models.some(({ capabilities }) => capabilities.includes(name)),
  )
  return (
    <Stack gap="sm" w="100%">
      <Group gap="sm" align="flex-end">
        <TextInput
          size="sm"
          aria-label="Search models"
          placeholder="Search by name or provider"
          leftSection={<IconSearch size={16} />}
          value={filter.search}
          onChange={(event) => change({ ...filter, search: event.currentTarget.value })}
          style={{ flex: '1 1 220px' }}
        />
        <NativeSelect
          size="sm"
          aria-label="Order"
          data={[...ORDERS]}
          value={filter.order}
          onChange={(event) => change({ ...filter, order: event.currentTarget.value as ModelOrder })}
        />
      </Group>
      <Group gap="xs" role="group" aria-label="Capabilities">
        <Text size="sm" c="dimmed">
          Can use
        </Text>
        <Chip.Group
          multiple
          value={[...filter.capabilities]}
          onChange={(capabilities) => change({ ...filter, capabilities })}
        >
          {offered.map((name) => (
            <Chip key={name} value={name} size="xs" variant="outline">
              {CAPABILITY_NAMES[name]}
            </Chip>
          ))}
        </Chip.Group>
      </Group>
    </Stack>
  )
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  smart: 'Reads each request and picks the model that fits it best.',
  cheap: 'Picks the cheapest model that can do it.',
  fast: 'Picks the model that answers soonest.',
}

function TierCards({ tiers }: { tiers: readonly TierBody[] }) {
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
