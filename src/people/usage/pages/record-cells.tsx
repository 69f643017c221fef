/** Parts of a charged request, as tables and cards of the usage pages show them. */
import { Group, Text } from '@mantine/core'
import { Status } from '@/dashboard/components/status'
import { formatCount, formatDuration } from '@/dashboard/format'
import type { UsageItem } from './usage-data'
import { flagLabel, statusLabel } from './words'

const FIRST_ERROR_STATUS = 400
/** The status if the client disconnected, which is no failure. */
const CLIENT_LEFT = 499
const NO_WRAP = { whiteSpace: 'nowrap' } as const

/** The outcome of a request; a correction is no request. */
export function Outcome({ item }: { item: Pick<UsageItem, 'status' | 'kind' | 'flags'> }) {
  if (item.kind === 'late') return <Status tone="info">Correction</Status>
  const marks = item.flags.filter((flag) => flag !== 'late')
  return (
    <Group gap={4}>
      <Status tone={toneOf(item.status)}>
        {item.status >= FIRST_ERROR_STATUS ? `${item.status} ${statusLabel(item.status)}` : statusLabel(item.status)}
      </Status>
      {marks.map((flag) => (
        <Status key={flag} tone="waiting">
          {flagLabel(flag)}
        </Status>
      ))}
    </Group>
  )
}

function toneOf(status: number): 'good' | 'neutral' | 'bad' {
  if (status === CLIENT_LEFT) return 'neutral'
  return status >= FIRST_ERROR_STATUS ? 'bad' : 'good'
}

/** The model that answered, and the requested name if that differs. */
export function ModelNames({ item }: { item: Pick<UsageItem, 'model' | 'requestedModel'> }) {
  return (
    <>
      <Text size="sm" className="wrap-anywhere">
        {item.model}
      </Text>
      {item.requestedModel !== item.model && (
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          asked for {item.requestedModel}
        </Text>
      )}
    </>
  )
}

/** Tokens in and out. */
export function Tokens({ item }: { item: Pick<UsageItem, 'inputTokens' | 'outputTokens'> }) {
  return (
    <>
      <Text size="sm" className="figures" style={NO_WRAP}>
        {formatCount(item.inputTokens)} in
      </Text>
      <Text size="xs" c="dimmed" className="figures" style={NO_WRAP}>
        {formatCount(item.outputTokens)} out
      </Text>
    </>
  )
}

/** Duration, and the time to the first token if known. */
export function Times({ item }: { item: Pick<UsageItem, 'durationMs' | 'firstTokenMs'> }) {
  return (
    <>
      <Text size="sm" className="figures" style={NO_WRAP}>
        {formatDuration(item.durationMs)}
      </Text>
      {item.firstTokenMs !== null && (
        <Text size="xs" c="dimmed" className="figures" style={NO_WRAP}>
          first token {formatDuration(item.firstTokenMs)}
        </Text>
      )}
    </>
  )
}
