/** The test of a provider's targets on the providers page, with its results. */
import { Box, Button, Group, List, Text, Title } from '@mantine/core'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { Status } from '@/dashboard/components/status'
import { formatDuration } from '@/dashboard/format'
import { type Trials, useTrial } from './admin-data'
import { TRIAL_WORDS } from './words'

type TrialRow = Trials['targets'][number]

const COLUMNS = [
  ['text', 'Text'],
  ['stream', 'Stream'],
  ['tools', 'Tools'],
  ['images', 'Pictures'],
  ['schema', 'Schema'],
  ['usage', 'Usage'],
] as const

/** The button and the results. */
export function ProviderTrial({ provider }: { provider: string }) {
  const trial = useTrial(provider)
  return (
    <Box>
      <Group justify="space-between" gap="sm" mb={4}>
        <Box style={{ flex: '1 1 200px' }}>
          <Title order={3} size="h5">
            Test
          </Title>
          <Text size="sm" c="dimmed">
            A few small requests to each target. The provider charges for them.
          </Text>
        </Box>
        <Button
          size="xs"
          variant="default"
          aria-label={`Test ${provider}`}
          loading={trial.isPending}
          onClick={() => trial.mutate()}
        >
          Test
        </Button>
      </Group>
      {trial.isPending && <LoadingRows rows={2} />}
      {trial.isError && <ErrorState error={trial.error} retry={() => trial.mutate()} />}
      {!trial.isPending && trial.data && <Results provider={provider} trials={trial.data} />}
    </Box>
  )
}

function Results({ provider, trials: { targets } }: { provider: string; trials: Trials }) {
  if (targets.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No model for chats has a target here.
      </Text>
    )
  }
  const faults = targets.flatMap((target) => target.faults.map((fault) => ({ ...fault, model: target.model })))
  return (
    <>
      <DataTable
        items={targets}
        keyOf={({ model, target }) => `${model} ${target}`}
        minWidth={760}
        verticalSpacing="xs"
        horizontalSpacing="xs"
        aria-label={`What works at ${provider}`}
        columns={[
          { title: 'Model', className: 'wrap-anywhere', cell: (target) => <TargetName {...target} /> },
          ...COLUMNS.map(([name, title]) => ({ title, cell: (target: TrialRow) => <Verdict of={target[name]} /> })),
          {
            title: 'First token',
            ...FIGURES,
            cell: ({ firstTokenMs }) => (firstTokenMs === null ? '–' : formatDuration(firstTokenMs)),
          },
          { title: 'Cost', ...FIGURES, cell: ({ costUsd }) => (costUsd === null ? '–' : `$${costUsd}`) },
        ]}
      />
      {faults.length > 0 && (
        <List size="sm" mt="xs">
          {faults.map(({ model, of, why }) => (
            <List.Item key={`${model} ${of} ${why}`} className="wrap-anywhere">
              {model}, {of}: {why}
            </List.Item>
          ))}
        </List>
      )}
    </>
  )
}

/** A model, and its name at the provider. */
export function TargetName({ model, target }: { model: string; target: string }) {
  return (
    <>
      {model}
      <Text size="xs" c="dimmed">
        {target}
      </Text>
    </>
  )
}

function Verdict({ of }: { of: keyof typeof TRIAL_WORDS }) {
  return <Status tone={TRIAL_WORDS[of].tone}>{TRIAL_WORDS[of].label}</Status>
}
