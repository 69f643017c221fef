/** The usage record of the request in the URL, beside the list. */
import { Anchor, Drawer, Group, Stack, Text } from '@mantine/core'
import { IconFileOff } from '@tabler/icons-react'
import { ApiError } from '@/dashboard/client'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { Rows } from '@/dashboard/components/lists/rows'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { useFailure } from './failures-data'
import { FailureEntry } from './failures-list'
import { RecordDetails } from './record-details'
import { useUsageRecord } from './usage-data'

type RecordDrawerProps = {
  requestId: string | undefined
  close(): void
}

export function RecordDrawer({ requestId, close }: RecordDrawerProps) {
  return (
    <Drawer.Root opened={requestId !== undefined} onClose={close} position="right" size="lg">
      <Drawer.Overlay />
      <Drawer.Content>
        {/* A header element here would count as the page's banner. */}
        <Drawer.Header role="presentation">
          <Drawer.Title>Usage record</Drawer.Title>
          <Drawer.CloseButton aria-label="Close the usage record" />
        </Drawer.Header>
        <Drawer.Body>{requestId !== undefined && <Content requestId={requestId} />}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}

function Content({ requestId }: { requestId: string }) {
  const record = useUsageRecord(requestId)
  const isUnknown = record.error instanceof ApiError && record.error.status === 404
  const failure = useFailure(requestId, isUnknown)
  if (isUnknown && failure.data) {
    return (
      <Stack gap="md">
        <Text size="sm">This request failed and cost nothing.</Text>
        <Rows isOrdered>
          <FailureEntry failure={failure.data} />
        </Rows>
      </Stack>
    )
  }
  if (isUnknown && failure.isPending) return <LoadingRows />
  if (isUnknown) {
    return (
      <EmptyState icon={IconFileOff} title="No usage record">
        Your account has no charged request {requestId}, and none that failed in the last 30 days. A request that has
        only just ended appears within seconds, and one that cost nothing has no record.
      </EmptyState>
    )
  }
  return (
    <Stack gap="lg">
      <CopyField label="Request id" value={requestId} />
      <Loaded query={record}>{(data) => <RecordDetails record={data} />}</Loaded>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          The rules are in{' '}
          <Anchor href="/docs" size="xs" underline="always">
            the documentation
          </Anchor>
          . The address of this page leads here again.
        </Text>
      </Group>
    </Stack>
  )
}
