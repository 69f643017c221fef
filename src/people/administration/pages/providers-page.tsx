/** The page of providers and targets, with their state in the gateway process that answers the page. */
import { Box, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconArrowsSplit2, IconServerBolt } from '@tabler/icons-react'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { Moment } from '@/dashboard/components/moment'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { formatCount, formatDuration } from '@/dashboard/format'
import { type Health, type ProviderHealth, type TierReport, useHealth, useTierReport } from './admin-data'
import { ProviderTrial, TargetName } from './provider-trial'
import { CIRCUIT_WORDS, KEY_WORDS } from './words'

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
  return (
    <DataTable
      items={provider.targets}
      keyOf={({ model, target }) => `${model} ${target}`}
      verticalSpacing="xs"
      horizontalSpacing="xs"
      columns={[
        { title: 'Model', className: 'wrap-anywhere', cell: (target) => <TargetName {...target} /> },
        { title: 'Circuit', cell: (target) => <Circuit {...target} /> },
        { title: 'Last 30 s', ...FIGURES, visibleFrom: 'sm', cell: ({ recent }) => callsText(recent) },
        { title: 'First token', ...FIGURES, cell: ({ latencyMs }) => durationText(latencyMs.stream) },
        {
          title: 'Whole answer',
          ...FIGURES,
          visibleFrom: 'sm',
          cell: ({ latencyMs }) => durationText(latencyMs.whole),
        },
      ]}
    />
  )
}

type Target = ProviderHealth['targets'][number]

function Circuit({ circuit, isAdopted }: Target) {
  return (
    <>
      <Status tone={CIRCUIT_WORDS[circuit].tone}>{CIRCUIT_WORDS[circuit].label}</Status>
      {isAdopted && (
        <Text size="xs" c="dimmed">
          told by another gateway
        </Text>
      )}
    </>
  )
}

function callsText({ all, failed }: Target['recent']): string {
  return `${formatCount(all)} calls, ${formatCount(failed)} failed`
}

function durationText(milliseconds: number | null): string {
  return milliseconds === null ? '–' : formatDuration(milliseconds)
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
        <DataTable
          items={health.fallbacks}
          keyOf={({ from, to, reason }) => `${from} ${to} ${reason}`}
          verticalSpacing="xs"
          columns={[
            { title: 'From', className: 'wrap-anywhere', cell: ({ from }) => from },
            { title: 'To', className: 'wrap-anywhere', cell: ({ to }) => to },
            { title: 'Reason', visibleFrom: 'xs', cell: ({ reason }) => reason },
            { title: 'Requests', ...FIGURES, cell: ({ count }) => formatCount(count) },
          ]}
        />
      )}
    </Section>
  )
}

function TierSection() {
  const report = useTierReport()
  return (
    <Section
      title="Answers of tiers"
      description="Counted for a share of each tier's requests, by all gateways. Feedback is counted for every request."
      isFlush
    >
      <Loaded query={report}>{(data) => <Answers report={data} />}</Loaded>
    </Section>
  )
}

function Answers({ report: { days, tiers, observed } }: { report: TierReport }) {
  const shares = new Map(tiers.map(({ tier, share }) => [tier, share]))
  if (observed.length === 0) {
    return (
      <EmptyState icon={IconArrowsSplit2} title="Nothing observed yet">
        Answers of tiers appear here within seconds. The catalogue says what share of a tier is looked at (`observe`).
      </EmptyState>
    )
  }
  return (
    <>
      <DataTable
        items={observed}
        keyOf={({ tier, model }) => `${tier} ${model}`}
        minWidth={640}
        verticalSpacing="xs"
        columns={[
          { title: 'Tier', className: 'wrap-anywhere', cell: ({ tier }) => tier },
          { title: 'Model', className: 'wrap-anywhere', cell: ({ model }) => model },
          { title: 'Observed', ...FIGURES, cell: ({ tier }) => percent(shares.get(tier)) },
          { title: 'Answers', ...FIGURES, cell: ({ answers }) => formatCount(answers) },
          { title: 'Cut by length', ...FIGURES, cell: (row) => partOf(row.cutByLength, row.answers) },
          { title: 'Asked again', ...FIGURES, cell: (row) => partOf(row.retries, row.answers) },
          { title: 'Tokens each', ...FIGURES, cell: tokensEach },
          { title: 'Thumbs up / down', ...FIGURES, cell: thumbs },
        ]}
      />
      <Text size="xs" c="dimmed" px="lg" pb="lg">
        The last {formatCount(days)} days, UTC.
      </Text>
    </>
  )
}

type Observed = TierReport['observed'][number]

function tokensEach({ outputTokens, answers }: Observed): string {
  return answers === 0 ? '–' : formatCount(Math.round(outputTokens / answers))
}

function thumbs({ thumbsUp, thumbsDown }: Observed): string {
  return `${formatCount(thumbsUp)} / ${formatCount(thumbsDown)}`
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${Math.round(share * 1000) / 10} %`
}

function partOf(some: number, all: number): string {
  return `${formatCount(some)} ${all === 0 ? '' : `(${percent(some / all)})`}`
}
