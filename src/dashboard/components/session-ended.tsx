/** A sign-in dialog, shown if the session ends while the pages are in use, so that nothing typed is lost. */
import { Button, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { askAgain } from '@/dashboard/query'
import { type Viewer, viewerChanged } from '@/dashboard/session'
import { CodeForm, PasswordForm } from '@/people/sign-in/pages/sign-in-steps'
import { takeEscape } from './escape'

/** The z-index of this dialog, above all others, which have 200 and 300. */
const IN_FRONT = 400

export function SessionEnded({ viewer }: { viewer: Viewer }) {
  const isOpen = viewer.hasEnded === true
  // Without this, Escape would close the dialog behind this one, and its content would be lost.
  useEffect(() => (isOpen ? takeEscape(() => {}) : undefined), [isOpen])
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Sign in to go on"
      zIndex={IN_FRONT}
      centered
    >
      <Steps email={viewer.email} />
    </Modal>
  )
}

function Steps({ email }: { email: string }) {
  const [step, setStep] = useState<'password' | 'code'>('password')
  // Repeats all queries that failed while the session had ended.
  const goOn = () => askAgain()
  return (
    <Stack gap="sm">
      <Text size="sm" className="wrap-anywhere">
        Your session as <b>{email}</b> has ended. What you typed is still here.
      </Text>
      {step === 'password' ? (
        <PasswordForm email={email} onSignedIn={goOn} onCodeRequired={() => setStep('code')} />
      ) : (
        <CodeForm onSignedIn={goOn} onStartAgain={() => setStep('password')} />
      )}
      <Button variant="subtle" onClick={() => void viewerChanged()}>
        Leave, and lose what you typed
      </Button>
    </Stack>
  )
}
