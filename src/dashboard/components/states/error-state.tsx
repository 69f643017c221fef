/** Shown if data could not be loaded: the reason, and a button to try again. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'

export function ErrorState({ error, retry }: { error: Error; retry?: () => unknown }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="This could not be loaded" className="state" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={() => void retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
