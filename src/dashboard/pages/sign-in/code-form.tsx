/**
 * The form of the second step of signing in: a code of the authenticator app, or a backup code where the app is lost.
 */
import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError, answer, api } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { checkEntered } from './rules'

type CodeFormProps = { onSignedIn(): Promise<void>; onStartAgain(): void }

const KINDS = {
  app: {
    label: 'Code of your authenticator app',
    description: 'Six digits.',
    check: (code: string) => (/^\d{6}$/.test(code.trim()) ? null : 'Enter the six digits of the app.'),
    other: 'Use a backup code instead',
  },
  backup: {
    label: 'Backup code',
    description: 'One of those you kept when you set up the app. Each works once.',
    check: checkEntered('a backup code'),
    other: 'Use the authenticator app instead',
  },
} as const

export function CodeForm({ onSignedIn, onStartAgain }: CodeFormProps) {
  const [kind, setKind] = useState<keyof typeof KINDS>('app')
  return (
    <Stack gap="sm">
      <OneCode key={kind} kind={kind} onSignedIn={onSignedIn} onStartAgain={onStartAgain} />
      <Button variant="default" onClick={() => setKind(kind === 'app' ? 'backup' : 'app')}>
        {KINDS[kind].other}
      </Button>
    </Stack>
  )
}

function OneCode({ kind, onSignedIn, onStartAgain }: CodeFormProps & { kind: keyof typeof KINDS }) {
  const { label, description, check } = KINDS[kind]
  const form = useForm({ initialValues: { code: '' }, validate: { code: check } })
  const { submit, isRunning, error } = useSubmission(form, async (values) => {
    const code = values.code.trim()
    const routes = api.session['sign-in']
    await answer(kind === 'app' ? routes.totp.post({ code }) : routes['backup-code'].post({ code }))
    await onSignedIn()
  })
  const isOver = error instanceof ApiError && error.code === 'sign_in_again'
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <FormError error={error} />
        <TextInput
          label={label}
          description={description}
          autoComplete={kind === 'app' ? 'one-time-code' : 'off'}
          inputMode={kind === 'app' ? 'numeric' : 'text'}
          autoFocus
          {...form.getInputProps('code')}
        />
        {isOver ? (
          <Button onClick={onStartAgain}>Start again</Button>
        ) : (
          <Button type="submit" loading={isRunning}>
            Continue
          </Button>
        )}
      </Stack>
    </form>
  )
}
