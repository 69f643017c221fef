/** The receipt of the request that the address names, beside the list it was chosen from. */
import { Anchor, Drawer, Group, Stack, Text } from '@mantine/core'
import { IconReceiptOff } from '@tabler/icons-react'
import { ApiError } from '@/dashboard/client'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { ReceiptBody } from './receipt-body'
import { useReceipt } from './usage-data'

type ReceiptDrawerProps = {
  /** Undefined: closed. */
  requestId: string | undefined
  close(): void
}

export function ReceiptDrawer({ requestId, close }: ReceiptDrawerProps) {
  return (
    <Drawer.Root opened={requestId !== undefined} onClose={close} position="right" size="lg">
      <Drawer.Overlay />
      <Drawer.Content>
        {/* Not a banner of the page. */}
        <Drawer.Header role="presentation">
          <Drawer.Title fw={650}>Receipt</Drawer.Title>
          <Drawer.CloseButton aria-label="Close the receipt" />
        </Drawer.Header>
        <Drawer.Body>{requestId !== undefined && <Content requestId={requestId} />}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}

function Content({ requestId }: { requestId: string }) {
  const receipt = useReceipt(requestId)
  if (receipt.error instanceof ApiError && receipt.error.status === 404) {
    return (
      <EmptyState icon={IconReceiptOff} title="No receipt">
        Your account has no charged request {requestId}. A request that has only just ended appears within a second, and
        one that cost nothing has no receipt.
      </EmptyState>
    )
  }
  return (
    <Stack gap="lg">
      <CopyField label="Request id" value={requestId} />
      <Loaded query={receipt}>{(data) => <ReceiptBody receipt={data} />}</Loaded>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          The rules are in{' '}
          <Anchor href="/docs" size="xs">
            the documentation
          </Anchor>
          . The address of this page leads here again.
        </Text>
      </Group>
    </Stack>
  )
}
