import { Alert, Anchor, Avatar, Box, Button, Group, Loader, Spoiler, Stack, Text, Tooltip } from '@mantine/core'
import { IconAlertTriangle, IconMessage2Code } from '@tabler/icons-react'
import { lazy, Suspense, useDeferredValue, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { ApiError } from '@/dashboard/client'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { formatCount, formatDuration, formatMoney } from '@/dashboard/format'
import { Thumbnails } from './attachments'
import type { AnswerRecord } from './stream-chat'
import type { Chat, Turn } from './use-chat'

const HEIGHT = 'max(320px, calc(100vh - 430px))'
/** If the reader has scrolled up further than this, new text doesn't scroll the view. */
const NEAR_END_PX = 120

/** Shows the conversation in the playground. `retry` requests a new answer to the last question. */
export function Conversation({ chat, retry }: { chat: Chat; retry(): void }) {
  const ref = useRef<HTMLDivElement>(null)
  const last = chat.turns.at(-1)
  const written = `${last?.id} ${last?.text.length} ${last?.reasoning.length} ${last?.state}`
  useEffect(() => {
    const box = ref.current
    if (!box || written === '') return
    if (box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX) box.scrollTop = box.scrollHeight
  }, [written])
  return (
    <Box
      ref={ref}
      p="lg"
      tabIndex={0}
      role="log"
      aria-label="Conversation"
      aria-busy={chat.isWriting}
      style={{ height: HEIGHT, overflowY: 'auto' }}
    >
      {chat.turns.length === 0 ? (
        <EmptyState icon={IconMessage2Code} title="Try a model">
          Write something below. It is answered and charged like any call through the API, at the model’s usual price.
        </EmptyState>
      ) : (
        <Stack gap="lg">
          {chat.turns.map((turn) => (
            <TurnView key={turn.id} turn={turn} retry={turn === last && !chat.isWriting ? retry : undefined} />
          ))}
        </Stack>
      )}
    </Box>
  )
}

const REASONING_HEIGHT = 60

function TurnView({ turn, retry }: { turn: Turn; retry: (() => void) | undefined }) {
  const { role, text, images = [], reasoning, state, error } = turn
  return (
    <Group align="flex-start" gap="sm" wrap="nowrap">
      <Avatar size="sm" radius="xl" color={role === 'user' ? 'gray' : 'brand'} aria-hidden="true">
        {role === 'user' ? 'Y' : 'A'}
      </Avatar>
      <Box style={{ flex: 1, minWidth: 0 }}>
        <Group gap="xs" mb={2}>
          <Text size="sm" fw={600}>
            {role === 'user' ? 'You' : 'Answer'}
          </Text>
          {text !== '' && state !== 'writing' && role === 'assistant' && (
            <CopyIcon label="Answer" value={text} isSubtle />
          )}
        </Group>
        {reasoning !== '' && (
          <Spoiler maxHeight={REASONING_HEIGHT} showLabel="Show all reasoning" hideLabel="Show less" mb="xs">
            <Text size="sm" c="dimmed" style={AS_WRITTEN}>
              {reasoning}
            </Text>
          </Spoiler>
        )}
        <Thumbnails images={images} />
        {role === 'user' ? <PlainText text={text} /> : <AnswerText text={text} />}
        {state === 'writing' && text === '' && reasoning === '' && (
          <Loader type="dots" size="sm" role="status" aria-label="Waiting" />
        )}
        {error && <Failure error={error} retry={retry} />}
        {role === 'assistant' && <AnswerFacts turn={turn} />}
      </Box>
    </Group>
  )
}

function Failure({ error, retry }: { error: ApiError; retry: (() => void) | undefined }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} mt="xs" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        <Group gap="md">
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
          {error.status === 402 && (
            <Anchor component={Link} href="/credit" size="sm">
              Buy credit
            </Anchor>
          )}
          {error.code === 'playground_deactivated' && (
            <Anchor component={Link} href="/keys" size="sm">
              API keys
            </Anchor>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}

/** Keeps spaces and line breaks. */
const AS_WRITTEN = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** A separate file, since most people never open the playground. If it fails to load, answers are shown as plain text. */
const Markdown = lazy(() =>
  import('./markdown').then(
    (module) => ({ default: module.Markdown }),
    () => ({ default: PlainText }),
  ),
)

/** Shows an answer; `text` may grow meanwhile. */
function AnswerText({ text }: { text: string }) {
  // Parsing a long answer again for every piece is slow, so it waits while the person types.
  const shown = useDeferredValue(text)
  return (
    <Suspense fallback={<PlainText text={text} />}>
      <Markdown text={shown} />
    </Suspense>
  )
}

function PlainText({ text }: { text: string }) {
  return (
    <Text size="sm" component="div" style={AS_WRITTEN}>
      {text}
    </Text>
  )
}

function AnswerFacts({ turn }: { turn: Turn }) {
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

/** Output tokens per second after the first token; undefined if the answer is too short. */
function tokensPerSecond({ outputTokens, durationMs, firstTokenMs }: AnswerRecord): string | undefined {
  const writingMs = durationMs - (firstTokenMs ?? 0)
  if (outputTokens < 2 || writingMs < 1) return undefined
  const speed = (outputTokens / writingMs) * 1000
  return speed >= 10 ? Math.round(speed).toLocaleString('en-US') : speed.toFixed(1)
}
