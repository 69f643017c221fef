/** The re-authentication dialog: asks for a code or the password, then repeats the request. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useCallback, useEffect, useState } from 'react'
import { ApiError } from '@/dashboard/client'
import { useViewer } from '@/dashboard/session'
import { performOwn } from '@/people/client'
import { takeEscape } from './escape'
import { PasswordField } from './fields/password-field'
import { PlainForm } from './fields/plain-form'
import { useSubmission } from './fields/use-submission'

type Wait = { resolve(): void; reject(): void }

/** Opens the dialog; set while {@link StepUpHost} is mounted. */
let showDialog: ((wait: Wait) => void) | undefined

/** Runs `act`. If the server requires re-authentication, shows the dialog and runs it again. */
export async function withProof<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const show = showDialog
    if (!(error instanceof ApiError) || error.code !== 'step_up_required' || !show) throw error
    await new Promise<void>((resolve, reject) => show({ resolve, reject: () => reject(error) }))
    return await act()
  }
}

/** Renders the re-authentication dialog in front of other dialogs, whose content stays. */
export function StepUpHost() {
  const [wait, setWait] = useState<Wait>()
  useEffect(() => {
    showDialog = setWait
    return () => {
      showDialog = undefined
    }
  }, [])
  const close = useCallback(() => {
    wait?.reject()
    setWait(undefined)
  }, [wait])
  useEffect(() => (wait ? takeEscape(close) : undefined), [wait, close])
  function prove() {
    wait?.resolve()
    setWait(undefined)
  }
  return (
    <Modal
      opened={wait !== undefined}
      onClose={close}
      closeOnEscape={false}
      title="Confirm that it is you"
      zIndex={IN_FRONT}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <ProofForm onProved={prove} />
    </Modal>
  )
}

/** The z-index of this dialog, above the usual dialogs, which have 200. */
const IN_FRONT = 300

function ProofForm({ onProved }: { onProved(): void }) {
  const hasApp = useViewer().data?.isTotpEnabled ?? false
  const [isByCode, setByCode] = useState(hasApp)
  return (
    <Stack gap="sm">
      <Text size="sm">This is open to those alone who have shown in the last five minutes that it is them.</Text>
      {isByCode ? <CodeProof onProved={onProved} /> : <PasswordProof onProved={onProved} />}
      {hasApp && (
        <Button variant="subtle" onClick={() => setByCode(!isByCode)}>
          {isByCode ? 'Use your password instead' : 'Use the authenticator app instead'}
        </Button>
      )}
    </Stack>
  )
}

function CodeProof({ onProved }: { onProved(): void }) {
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (code) => (/^\d{6}$/.test(code.trim()) ? null : 'Enter the six digits of the app.') },
  })
  const submission = useSubmission(form, async ({ code }) => {
    await performOwn('POST /session/step-up', { code: code.trim() })
    onProved()
  })
  return (
    <PlainForm submission={submission} action="Continue" button={{ ml: 'auto' }}>
      <TextInput
        label="Code of your authenticator app"
        description="A new one: each works once."
        autoComplete="one-time-code"
        inputMode="numeric"
        data-autofocus
        {...form.getInputProps('code')}
      />
    </PlainForm>
  )
}

function PasswordProof({ onProved }: { onProved(): void }) {
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (password) => (password === '' ? 'Enter your password.' : null) },
  })
  const submission = useSubmission(form, async ({ password }) => {
    await performOwn('POST /session/step-up', { password })
    onProved()
  })
  return (
    <PlainForm submission={submission} action="Continue" button={{ ml: 'auto' }}>
      <PasswordField purpose="current" label="Your password" data-autofocus {...form.getInputProps('password')} />
    </PlainForm>
  )
}
