/** The steps of signing in: address and password, then a code if the person has an authenticator app. */
import { Anchor, Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { performOwn } from '@/people/client'
import { ResendButton } from './links'
import { checkEmail, checkEntered } from './rules'
import { EmailField, SignInForm } from './sign-in-form'

type PasswordFormProps = {
  /** The address of the person who signs in again. Undefined: the form asks for it. */
  email?: string
  onSignedIn(): Promise<void>
  onCodeRequired(): void
}

/** The first step: address and password. */
export function PasswordForm({ email: known, onSignedIn, onCodeRequired }: PasswordFormProps) {
  const form = useForm({
    initialValues: { email: known ?? '', password: '' },
    validate: { email: checkEmail, password: checkEntered('your password') },
  })
  const submission = useSubmission(form, async ({ email, password }) => {
    const { status } = await performOwn('POST /session/sign-in', { email: email.trim(), password })
    if (status === 'totp_required') onCodeRequired()
    else await onSignedIn()
  })
  const { error } = submission
  const isUnverified = error instanceof ApiError && error.code === 'email_not_verified'
  return (
    <SignInForm
      submission={submission}
      action="Sign in"
      remedy={isUnverified && <ResendButton email={form.values.email.trim()} />}
    >
      {known === undefined && <EmailField autoFocus {...form.getInputProps('email')} />}
      <PasswordField
        purpose="current"
        label="Password"
        data-autofocus={known !== undefined || undefined}
        {...form.getInputProps('password')}
      />
      <Group justify="flex-end" mt={-6}>
        <Anchor component={Link} href="/forgot-password" size="sm">
          Forgot your password?
        </Anchor>
      </Group>
    </SignInForm>
  )
}

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

/** The second step, for people with an authenticator app. */
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
    await performOwn(`POST /session/sign-in/${kind === 'app' ? 'totp' : 'backup-code'}`, { code })
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
