/** What is known of an answer in the playground: who gave it, how fast, how long, what it cost. */
import { Group, Text, Tooltip } from '@mantine/core'
import { formatCount, formatDuration, formatMoney } from '@/dashboard/format'
import type { AnswerRecord } from './stream-chat'
import type { Turn } from './use-chat'

/** A line under an answer, which grows while it is being written. */
export function AnswerFacts({ turn }: { turn: Turn }) {
  const { model, provider, record, firstTokenMs, requestId, state } = turn
  if (model === undefined) return null
  return (
    <Group gap="md" mt={6} style={{ rowGap: 2 }} aria-label="About this answer" role="group">
      <Tooltip label={`By ${provider ?? 'a provider'}, request ${requestId ?? ''}`} multiline maw={320}>
        <Fact>{model}</Fact>
      </Tooltip>
      {firstTokenMs !== undefined && <Fact>First token {formatDuration(firstTokenMs)}</Fact>}
      {record && <RecordFacts record={record} />}
      {state === 'stopped' && <Fact>Stopped: what was written is charged, see Usage</Fact>}
    </Group>
  )
}

function RecordFacts({ record }: { record: AnswerRecord }) {
  const speed = tokensPerSecond(record)
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = record
  const details = [
    cachedTokens > 0 && `${formatCount(cachedTokens)} of the input from a cache`,
    reasoningTokens > 0 && `${formatCount(reasoningTokens)} of the output reasoning`,
  ].filter(Boolean)
  return (
    <>
      {speed !== undefined && <Fact>{speed} tokens/s</Fact>}
      <Tooltip label={details.join(', ')} disabled={details.length === 0}>
        <Fact>
          {formatCount(inputTokens)} in, {formatCount(outputTokens)} out
        </Fact>
      </Tooltip>
      <Tooltip label={`Exactly ${formatMoney(record.costUsd, { isExact: true })}`}>
        <Fact>{formatMoney(record.costUsd)}</Fact>
      </Tooltip>
    </>
  )
}

function Fact({ children, ...rest }: { children: React.ReactNode }) {
  return (
    <Text span size="xs" c="dimmed" className="figures" {...rest}>
      {children}
    </Text>
  )
}

/** The writing alone, without the wait for its first word; undefined where it was too short to tell. */
function tokensPerSecond({ outputTokens, durationMs, firstTokenMs }: AnswerRecord): string | undefined {
  const writingMs = durationMs - (firstTokenMs ?? 0)
  if (outputTokens < 2 || writingMs < 1) return undefined
  const speed = (outputTokens / writingMs) * 1000
  return speed >= 10 ? Math.round(speed).toLocaleString('en-US') : speed.toFixed(1)
}
