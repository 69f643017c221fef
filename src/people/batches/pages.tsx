/** The page of an account's batches: state, progress and cost of each, and an example for the first. */
import { Anchor, Progress, Stack, Text } from '@mantine/core'
import { IconStack2 } from '@tabler/icons-react'
import { Link } from 'wouter'
import { chatModels, useCatalogue } from '@/dashboard/catalogue'
import { CodeBlock } from '@/dashboard/components/code-block'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { Paged } from '@/dashboard/components/lists/paged'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Status, type Tone } from '@/dashboard/components/status'
import { formatCount } from '@/dashboard/format'
import { usePages } from '@/dashboard/query'
import { KEY_PLACEHOLDER } from '@/dashboard/snippets'
import { perform, type ResultOf } from '@/people/client'
import { type BatchState, STATE_WORDS } from './fields'

type BatchBody = ResultOf<'GET /batches'>['items'][number]

/** Prefix of the query keys of batches. */
export const BATCHES = ['batches'] as const

const TONES: Record<BatchState, Tone> = {
  in_progress: 'info',
  paused: 'waiting',
  cancelling: 'waiting',
  completed: 'good',
  cancelled: 'neutral',
  expired: 'bad',
}

/** Whether the batch still has requests to run. */
export function isRunning({ endedAt }: Pick<BatchBody, 'endedAt'>): boolean {
  return endedAt === null
}

/** The page with the list. */
export function BatchesPage() {
  const query = usePages(
    BATCHES,
    (page) => perform('GET /batches', page),
    ({ items }) => items.some(isRunning),
  )
  return (
    <Page
      title="Batches"
      description="Many requests at once, which run in the background within 24 hours. Each is paid for when it runs."
    >
      <Paged query={query} empty={<FirstBatch />}>
        {(items) => (
          <Section isFlush>
            <BatchTable items={items} />
          </Section>
        )}
      </Paged>
    </Page>
  )
}

function BatchTable({ items }: { items: BatchBody[] }) {
  return (
    <DataTable
      items={items}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Batch', maw: 260, cell: (item) => <BatchName item={item} /> },
        { title: 'State', w: 130, cell: ({ state }) => <BatchStatus state={state} /> },
        { title: 'Requests', miw: 130, visibleFrom: 'xs', cell: (item) => <BatchProgress item={item} /> },
        { title: 'Failed', ...FIGURES, visibleFrom: 'lg', cell: ({ requests }) => formatCount(requests.errored) },
        { title: 'Cost so far', ...FIGURES, visibleFrom: 'md', cell: (item) => <Money usd={item.costUsd} /> },
        { title: 'At most', ...FIGURES, visibleFrom: 'lg', cell: (item) => <Money usd={item.mostUsd} /> },
        { title: 'Created', visibleFrom: 'lg', cell: (item) => <Moment at={item.createdAt} isRelative /> },
        { title: 'Results until', visibleFrom: 'lg', cell: (item) => <Moment at={item.expiresAt} isRelative /> },
      ]}
    />
  )
}

function BatchName({ item: { id, models, endpoint } }: { item: BatchBody }) {
  return (
    <>
      <Anchor component={Link} href={`/batches/${id}`} size="sm" className="wrap-anywhere">
        {id}
      </Anchor>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {[endpoint, ...models].join(' · ')}
      </Text>
    </>
  )
}

/** The state as a badge. */
export function BatchStatus({ state }: { state: BatchState }) {
  return <Status tone={TONES[state]}>{STATE_WORDS[state]}</Status>
}

const ALL = 100

/** How many requests have ended, as text and bar. */
export function BatchProgress({ item: { requests } }: { item: BatchBody }) {
  const { total, succeeded, errored, canceled, expired } = requests
  const ended = succeeded + errored + canceled + expired
  const percent = total === 0 ? ALL : Math.floor((ended / total) * ALL)
  return (
    <>
      <Text size="sm" className="figures">
        {formatCount(ended)} of {formatCount(total)}
      </Text>
      <Progress value={percent} size="sm" mt={4} aria-label={`${percent}% of the requests have ended`} />
    </>
  )
}

/** Shown while there is no batch: an example call that works as soon as it has a key. */
function FirstBatch() {
  const catalogue = useCatalogue().data
  const model = chatModels(catalogue?.models ?? [])[0]?.id ?? catalogue?.tiers[0]?.id
  return (
    <Section>
      <EmptyState icon={IconStack2} title="No batches yet">
        Send many requests in one call, and fetch their results when they are there. They are here while they run.
      </EmptyState>
      {model !== undefined && (
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            A first batch of two requests
          </Text>
          <CodeBlock code={exampleOf(window.location.origin, model)} label="curl code" />
          <Text size="sm" c="dimmed">
            The{' '}
            <Anchor href="/docs/guide/batches" underline="always">
              guide
            </Anchor>{' '}
            shows the same with client libraries, and with a file of requests.
          </Text>
        </Stack>
      )}
    </Section>
  )
}

function exampleOf(origin: string, model: string): string {
  const requests = ['Why is the sky blue?', 'Why is the sea blue?'].map((content, index) => ({
    custom_id: `question-${index + 1}`,
    params: { model, max_tokens: 200, messages: [{ role: 'user', content }] },
  }))
  return [
    `curl ${origin}/v1/messages/batches \\`,
    `  -H 'x-api-key: ${KEY_PLACEHOLDER}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify({ requests }, null, 2)}'`,
  ].join('\n')
}
