/** The page of signing in: address and password, then a code where the person has set up an authenticator app. */

import { Anchor, Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link, Redirect } from 'wouter'
import { ApiError, answer, api } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { useViewer } from '@/dashboard/session'
import { useArrival, useNext } from './arrival'
import { ResendButton, TextLink } from './links'
import { PublicFrame } from './public-frame'
import { checkEmail, checkEntered, useSignInOptions } from './rules'
import { EmailField, SignInForm } from './sign-in-form'

export function SignInPage() {
  const [step, setStep] = useState<'password' | 'code'>('password')
  const viewer = useViewer()
  const options = useSignInOptions()
  const next = useNext()
  const arrive = useArrival()
  if (viewer.data) return <Redirect to={next} replace />
  if (step === 'code') {
    return (
      <PublicFrame title="Enter your code" description="Signing in to this account takes a second step.">
        <CodeForm onSignedIn={arrive} onStartAgain={() => setStep('password')} />
      </PublicFrame>
    )
  }
  return (
    <PublicFrame
      title="Sign in"
      description="Your API keys, usage and credit."
      footer={
        options.data?.signUp === 'open' && (
          <>
            New here?{' '}
            <TextLink href={`/sign-up${next === '/' ? '' : `?next=${encodeURIComponent(next)}`}`}>
              Create an account
            </TextLink>
          </>
        )
      }
    >
      <PasswordForm onSignedIn={arrive} onCodeRequired={() => setStep('code')} />
    </PublicFrame>
  )
}

type PasswordFormProps = { onSignedIn(): Promise<void>; onCodeRequired(): void }

function PasswordForm({ onSignedIn, onCodeRequired }: PasswordFormProps) {
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { email: checkEmail, password: checkEntered('your password') },
  })
  const submission = useSubmission(form, async ({ email, password }) => {
    const { status } = await answer(api.session['sign-in'].post({ email: email.trim(), password }))
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
      <EmailField autoFocus {...form.getInputProps('email')} />
      <PasswordField purpose="current" label="Password" {...form.getInputProps('password')} />
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

function CodeForm({ onSignedIn, onStartAgain }: CodeFormProps) {
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
