/** Failed requests with their counts by kind, which also serve as filters. For customers and administrators. */
import { Box, Button, Group, Text } from '@mantine/core'
import { IconMoodCheck } from '@tabler/icons-react'
import { useSearchParams } from 'wouter'
import { useAddressFilters, withParam } from '@/dashboard/components/address'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { Rows } from '@/dashboard/components/lists/rows'
import { ShowMore } from '@/dashboard/components/lists/show-more'
import { Moment } from '@/dashboard/components/moment'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Former } from '@/dashboard/components/states/former'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { Status } from '@/dashboard/components/status'
import { formatCount } from '@/dashboard/format'
import { type FailedRequest, type FailureSum, useFailures } from './failures-data'

const FILTER_NAMES = ['key', 'status', 'code'] as const

/** The list, with its filters. `accountId` is undefined for the viewer's own account. */
export function FailuresList({ accountId }: { accountId?: string }) {
  const [, setParams] = useSearchParams()
  const { filters, isFiltered, clear } = useAddressFilters(FILTER_NAMES)
  const failures = useFailures(filters, accountId)
  if (failures.isPending) return <LoadingRows />
  if (!failures.data) return <ErrorState error={failures.error} retry={failures.refetch} />
  const items = failures.data.pages.flatMap((page) => page.items)
  const sums = failures.data.pages[0]?.sums ?? []
  if (items.length === 0) return <NoFailures isFiltered={isFiltered} clear={clear} />
  const total = sums.reduce((sum, { requests }) => sum + requests, 0)
  return (
    <Former isFormer={failures.isPlaceholderData}>
      <Section title="By reason" description={`${formatCount(total)} in the last 30 days`}>
        <Group gap="xs">
          {sums.map((sum) => (
            <SumButton
              key={`${sum.status} ${sum.code}`}
              sum={sum}
              choose={() =>
                setParams((before) => withParam(withParam(before, 'status', String(sum.status)), 'code', sum.code), {
                  replace: true,
                })
              }
            />
          ))}
          {isFiltered && (
            <Button variant="subtle" size="compact-sm" color="gray" onClick={clear}>
              Clear filters
            </Button>
          )}
        </Group>
      </Section>
      <Section title="Requests" description={describe(sums)} isFlush>
        <Rows isOrdered>
          {items.map((failure) => (
            <FailureEntry key={failure.requestId} failure={failure} />
          ))}
        </Rows>
        <ShowMore {...failures} />
      </Section>
    </Former>
  )
}

function SumButton({ sum: { status, code, requests }, choose }: { sum: FailureSum; choose(): void }) {
  return (
    <Button variant="default" size="compact-sm" onClick={choose}>
      {status} {code}:{' '}
      <Text span inherit fw={650} ml={4} className="figures">
        {formatCount(requests)}
      </Text>
    </Button>
  )
}

/** The list's description: how many failures were only counted and not stored, by reason. */
function describe(sums: readonly FailureSum[]): string {
  const beyond = sums.filter(({ requests, kept }) => requests > kept)
  if (beyond.length === 0) return 'Newest first'
  const total = beyond.reduce((sum, { requests, kept }) => sum + requests - kept, 0)
  const kinds = beyond.map(({ status, code, requests, kept }) => `${formatCount(requests - kept)} of ${status} ${code}`)
  return `Newest first. ${formatCount(total)} more were not kept: ${kinds.join(', ')}.`
}

function NoFailures({ isFiltered, clear }: { isFiltered: boolean; clear(): void }) {
  if (!isFiltered) {
    return (
      <EmptyState icon={IconMoodCheck} title="No request has failed in the last 30 days">
        Requests that are refused or that fail are listed here within seconds, with the reason.
      </EmptyState>
    )
  }
  return <EmptyState icon={IconMoodCheck} title="No failed request matches these filters" clear={clear} />
}

/** From this status on, the service or a provider is at fault. */
const FIRST_SERVER_STATUS = 500

/** A failed request in a list: time, key, model and reason. */
export function FailureEntry({ failure }: { failure: FailedRequest }) {
  const { requestId, at, keyId, keyName, model, status, code, param, words, providerRequestId } = failure
  return (
    <Box component="li" px="lg" py="sm" style={{ borderTop: '1px solid var(--hairline)' }}>
      <Group justify="space-between" gap="xs">
        <Group gap={6}>
          <Status tone={status >= FIRST_SERVER_STATUS ? 'bad' : 'waiting'}>{`${status} ${code}`}</Status>
          {param !== null && (
            <Text size="sm" ff="monospace" className="wrap-anywhere">
              {param}
            </Text>
          )}
        </Group>
        <Text size="xs" c="dimmed" component="div">
          <Moment at={at} hasSeconds />
        </Text>
      </Group>
      <Text size="sm" my={4} className="wrap-anywhere">
        {words}
      </Text>
      <Group gap={4} wrap="nowrap">
        <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
          {requestId} · {keyName ?? keyId} · {model ?? 'no model name'}
        </Text>
        <CopyIcon label={`Request id ${requestId}`} value={requestId} isSubtle />
      </Group>
      {providerRequestId !== null && (
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
            The provider’s id: {providerRequestId}
          </Text>
          <CopyIcon label={`The provider’s id ${providerRequestId}`} value={providerRequestId} isSubtle />
        </Group>
      )}
    </Box>
  )
}
