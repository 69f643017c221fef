/** The page of providers and targets as the process that answers sees them at this moment. */
import { Box, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { IconServerBolt } from '@tabler/icons-react'
import { Moment } from '@/dashboard/components/moment'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { formatCount, formatDuration } from '@/dashboard/format'
import { type Health, type ProviderHealth, useHealth } from '@/dashboard/pages/administration/admin-data'
import { CIRCUIT_WORDS, KEY_WORDS } from '@/dashboard/pages/administration/words'
import { ProviderTrial } from './provider-trial'
import { TierSection } from './tier-section'

export function AdminProvidersPage() {
  const health = useHealth()
  return (
    <Page
      title="Providers"
      description="Circuits and keys are shared by all gateways. Counts are those of the process that answered, since it started."
    >
      <Loaded query={health}>{(data) => <Report health={data} />}</Loaded>
      <TierSection />
    </Page>
  )
}

function Report({ health }: { health: Health }) {
  if (health.providers.length === 0) {
    return (
      <Section>
        <EmptyState icon={IconServerBolt} title="No providers">
          Providers are listed in the catalogue file.
        </EmptyState>
      </Section>
    )
  }
  return (
    <>
      {health.providers.map((provider) => (
        <Provider key={provider.provider} provider={provider} />
      ))}
      <Fallbacks health={health} />
      <Text size="xs" c="dimmed">
        As of <Moment at={health.at} />. Asked again every few seconds.
      </Text>
    </>
  )
}

function Provider({ provider }: { provider: ProviderHealth }) {
  const answered = provider.attempts.find(({ outcome }) => outcome === 'answered')
  const failed = provider.attempts.filter(({ outcome }) => outcome !== 'answered')
  const limit = provider.limit === null ? '' : ` of ${formatCount(provider.limit)}`
  return (
    <Section
      title={provider.provider}
      description={`${provider.host} · ${provider.format}`}
      actions={<Worst provider={provider} />}
    >
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 2, sm: 3, md: 6 }} spacing="sm">
          <Figure label="In flight" value={`${formatCount(provider.inFlight)}${limit}`} />
          <Figure label="Queued" value={formatCount(provider.queued)} />
          <Figure label="Answered" value={formatCount(answered?.count ?? 0)} />
          <Figure label="Failed" value={formatCount(failed.reduce((sum, { count }) => sum + count, 0))} />
          <Figure label="Retries" value={formatCount(provider.retries)} />
          <Figure label="Broken off" value={formatCount(provider.broken)} />
        </SimpleGrid>
        <Targets provider={provider} />
        <Keys provider={provider} />
        {failed.length > 0 && <Failures failed={failed} />}
        <ProviderTrial provider={provider.provider} />
      </Stack>
    </Section>
  )
}

function Worst({ provider }: { provider: ProviderHealth }) {
  const states = new Set(provider.targets.map(({ circuit }) => circuit))
  const worst = states.has('open') ? 'open' : states.has('half-open') ? 'half-open' : 'closed'
  const isOut = provider.keys.length > 0 && provider.keys.every(({ state }) => state === 'out')
  if (isOut) return <Status tone="bad">No usable key</Status>
  return <Status tone={CIRCUIT_WORDS[worst].tone}>{CIRCUIT_WORDS[worst].label}</Status>
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <Box>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} className="figures">
        {value}
      </Text>
    </Box>
  )
}

function Targets({ provider }: { provider: ProviderHealth }) {
  const duration = (milliseconds: number | null) => (milliseconds === null ? '–' : formatDuration(milliseconds))
  return (
    <Table verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Model</Table.Th>
          <Table.Th>Circuit</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            Last 30 s
          </Table.Th>
          <Table.Th ta="right">First token</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            Whole answer
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {provider.targets.map((target) => (
          <Table.Tr key={`${target.model} ${target.target}`}>
            <Table.Td className="wrap-anywhere">
              {target.model}
              <Text size="xs" c="dimmed">
                {target.target}
              </Text>
            </Table.Td>
            <Table.Td>
              <Status tone={CIRCUIT_WORDS[target.circuit].tone}>{CIRCUIT_WORDS[target.circuit].label}</Status>
              {target.isAdopted && (
                <Text size="xs" c="dimmed">
                  told by another gateway
                </Text>
              )}
            </Table.Td>
            <Table.Td ta="right" visibleFrom="sm" className="figures">
              {formatCount(target.recent.all)} calls, {formatCount(target.recent.failed)} failed
            </Table.Td>
            <Table.Td ta="right" className="figures">
              {duration(target.latencyMs.stream)}
            </Table.Td>
            <Table.Td ta="right" visibleFrom="sm" className="figures">
              {duration(target.latencyMs.whole)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Keys({ provider }: { provider: ProviderHealth }) {
  return (
    <Group gap="lg">
      {provider.keys.map(({ key, state, forMs }) => (
        <Group key={key} gap={6}>
          <Text size="sm" c="dimmed">
            Key {key}
          </Text>
          <Status tone={KEY_WORDS[state].tone}>
            {state === 'usable' ? KEY_WORDS[state].label : `${KEY_WORDS[state].label}, ${formatDuration(forMs)}`}
          </Status>
        </Group>
      ))}
    </Group>
  )
}

function Failures({ failed }: { failed: ProviderHealth['attempts'] }) {
  return (
    <Box>
      <Title order={3} size="h5" mb={4}>
        Failed calls by kind
      </Title>
      <Group gap="lg">
        {failed.map(({ outcome, count, averageMs }) => (
          <Text size="sm" key={outcome} className="figures">
            {outcome}: {formatCount(count)}{' '}
            <Text span size="xs" c="dimmed">
              after {formatDuration(averageMs)}
            </Text>
          </Text>
        ))}
      </Group>
    </Box>
  )
}

function Fallbacks({ health }: { health: Health }) {
  return (
    <Section title="Fallbacks" description="Requests that went on from one model to another." isFlush>
      {health.fallbacks.length === 0 ? (
        <Text size="sm" c="dimmed" px="lg" pb="lg">
          None since this process started.
        </Text>
      ) : (
        <Table verticalSpacing="xs" horizontalSpacing="lg">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>From</Table.Th>
              <Table.Th>To</Table.Th>
              <Table.Th visibleFrom="xs">Reason</Table.Th>
              <Table.Th ta="right">Requests</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {health.fallbacks.map(({ from, to, reason, count }) => (
              <Table.Tr key={`${from} ${to} ${reason}`}>
                <Table.Td className="wrap-anywhere">{from}</Table.Td>
                <Table.Td className="wrap-anywhere">{to}</Table.Td>
                <Table.Td visibleFrom="xs">{reason}</Table.Td>
                <Table.Td ta="right" className="figures">
                  {formatCount(count)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}
