/** The settings for the second sign-in step. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconShieldCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Status } from '@/dashboard/components/status'
import { askAgain } from '@/dashboard/query'
import { performOwn } from '@/people/client'
import { BackupCodes } from './backup-codes'
import { PasswordPrompt } from './password-prompt'
import { TotpSetup } from './totp-setup'

type Task = 'enable' | 'disable' | 'backup-codes'

const TITLES: Record<Task, string> = {
  enable: 'Set up an authenticator app',
  disable: 'Remove the authenticator app',
  'backup-codes': 'New backup codes',
}

type TotpSectionProps = { isEnabled: boolean; isAdministrator: boolean }

export function TotpSection({ isEnabled, isAdministrator }: TotpSectionProps) {
  const [task, setTask] = useState<Task>('enable')
  const [isOpen, { open, close }] = useDisclosure()
  const isPhone = useMediaQuery('(max-width: 48em)')
  function leave(): void {
    close()
    // The app may already be active, even if the person leaves before saving the codes.
    void askAgain()
  }
  function start(next: Task): void {
    setTask(next)
    open()
  }
  return (
    <Section
      title="Two-step sign-in"
      description="Signing in also needs a code from an app on your phone, so a stolen password alone is not enough."
      actions={<Status tone={isEnabled ? 'good' : 'neutral'}>{isEnabled ? 'On' : 'Off'}</Status>}
    >
      <Stack gap="md" align="flex-start">
        {isAdministrator && !isEnabled && (
          <Alert color="yellow" variant="light">
            You are an administrator: your password opens other people’s accounts and money. Set up a second step.
          </Alert>
        )}
        {isEnabled ? (
          <Group gap="sm">
            <Button variant="default" onClick={() => start('backup-codes')}>
              New backup codes
            </Button>
            <Button variant="default" onClick={() => start('disable')}>
              Remove the app
            </Button>
          </Group>
        ) : (
          <Button variant="default" leftSection={<IconShieldCheck size={18} />} onClick={() => start('enable')}>
            Set up an authenticator app
          </Button>
        )}
      </Stack>
      <Modal
        opened={isOpen}
        onClose={leave}
        closeOnClickOutside={false}
        title={TITLES[task]}
        fullScreen={isPhone === true}
        centered
      >
        {task === 'enable' && <TotpSetup onDone={close} />}
        {task === 'disable' && <DisableTotp onDone={close} />}
        {task === 'backup-codes' && <NewBackupCodes onDone={close} />}
      </Modal>
    </Section>
  )
}

function DisableTotp({ onDone }: { onDone(): void }) {
  return (
    <PasswordPrompt
      explanation="Signing in will take your password only, and your backup codes stop working."
      action="Remove the app"
      isDestructive
      asksForCode
      run={async (password, code) => {
        await performOwn('POST /session/totp/disable', { password, code })
        await askAgain()
        notifyDone('Two-step sign-in is off.')
        onDone()
      }}
    />
  )
}

function NewBackupCodes({ onDone }: { onDone(): void }) {
  const [codes, setCodes] = useState<readonly string[]>()
  if (codes) {
    return (
      <Stack gap="md">
        <Text size="sm">The old backup codes no longer work.</Text>
        <BackupCodes codes={codes} onKept={onDone} />
      </Stack>
    )
  }
  return (
    <PasswordPrompt
      explanation="The backup codes you have now will stop working."
      action="Make new codes"
      asksForCode
      run={async (password, code) => {
        const { backupCodes } = await performOwn('POST /session/totp/backup-codes', { password, code })
        setCodes(backupCodes)
      }}
    />
  )
}
