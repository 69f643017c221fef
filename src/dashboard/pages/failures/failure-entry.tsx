/** One failed request as it stands in a list: when, by which key, what for, and why it was not answered. */
import { Box, Group, Text } from '@mantine/core'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { Moment } from '@/dashboard/components/moment'
import { Status } from '@/dashboard/components/status'
import type { FailedRequest } from './failures-data'

/** What begins here is the fault of the service or of a provider. */
const FIRST_SERVER_STATUS = 500

export function FailureEntry({ failure }: { failure: FailedRequest }) {
  const { requestId, at, keyId, keyName, model, status, code, param, words } = failure
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
          {requestId} · {keyName ?? keyId} · {model ?? 'model unknown'}
        </Text>
        <CopyIcon label={`Request id ${requestId}`} value={requestId} isSubtle />
      </Group>
    </Box>
  )
}
