/** The part of a provider on the providers' page where an administrator has its targets tried, and sees what works. */
import { Box, Button, Group, List, Table, Text, Title } from '@mantine/core'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { Status } from '@/dashboard/components/status'
import { formatDuration } from '@/dashboard/format'
import { type Trials, useTrial } from '@/dashboard/pages/administration/admin-data'
import { TRIAL_WORDS } from '@/dashboard/pages/administration/words'

type TrialRow = Trials['targets'][number]

const COLUMNS = [
  ['text', 'Text'],
  ['stream', 'Stream'],
  ['tools', 'Tools'],
  ['images', 'Pictures'],
  ['schema', 'Schema'],
  ['usage', 'Usage'],
] as const

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
      <Table.ScrollContainer minWidth={760} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing="xs" aria-label={`What works at ${provider}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Model</Table.Th>
              {COLUMNS.map(([name, label]) => (
                <Table.Th key={name}>{label}</Table.Th>
              ))}
              <Table.Th ta="right">First token</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {targets.map((target) => (
              <Row key={`${target.model} ${target.target}`} target={target} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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

function Row({ target }: { target: TrialRow }) {
  return (
    <Table.Tr>
      <Table.Td className="wrap-anywhere">
        {target.model}
        <Text size="xs" c="dimmed">
          {target.target}
        </Text>
      </Table.Td>
      {COLUMNS.map(([name]) => (
        <Table.Td key={name}>
          <Status tone={TRIAL_WORDS[target[name]].tone}>{TRIAL_WORDS[target[name]].label}</Status>
        </Table.Td>
      ))}
      <Table.Td ta="right" className="figures">
        {target.firstTokenMs === null ? '–' : formatDuration(target.firstTokenMs)}
      </Table.Td>
      <Table.Td ta="right" className="figures">
        {target.costUsd === null ? '–' : `$${target.costUsd}`}
      </Table.Td>
    </Table.Tr>
  )
}
