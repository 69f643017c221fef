/** Shown to an administrator instead of administration pages until an authenticator app is set up. */
import { Paper, Text } from '@mantine/core'
import { Page } from '@/dashboard/components/page'
import { TotpSetup } from './totp-setup'

const WIDTH = 480

export function AdministratorGate({ onDone }: { onDone(): void }) {
  return (
    <Page
      title="Set up an authenticator app"
      description="Administrators sign in with a second step. These pages open as soon as yours is set up."
    >
      <Paper withBorder p="lg" maw={WIDTH}>
        <TotpSetup onDone={onDone} />
        <Text size="sm" c="dimmed" mt="md">
          If you lose the app, use a backup code, or ask an operator to remove it.
        </Text>
      </Paper>
    </Page>
  )
}
