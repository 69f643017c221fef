/** The form of the first step of signing in: address and password. */
import { Anchor, Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from 'wouter'
import { ApiError, answer, api } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { ResendButton } from './resend-button'
import { checkEmail, checkEntered } from './rules'

type PasswordFormProps = { onSignedIn(): Promise<void>; onCodeRequired(): void }

export function PasswordForm({ onSignedIn, onCodeRequired }: PasswordFormProps) {
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { email: checkEmail, password: checkEntered('your password') },
  })
  const { submit, isRunning, error } = useSubmission(form, async ({ email, password }) => {
    const { status } = await answer(api.session['sign-in'].post({ email: email.trim(), password }))
    if (status === 'totp_required') onCodeRequired()
    else await onSignedIn()
  })
  const isUnverified = error instanceof ApiError && error.code === 'email_not_verified'
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <FormError error={error}>{isUnverified && <ResendButton email={form.values.email.trim()} />}</FormError>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          {...form.getInputProps('email')}
        />
        <PasswordField purpose="current" label="Password" {...form.getInputProps('password')} />
        <Group justify="flex-end" mt={-6}>
          <Anchor component={Link} href="/forgot-password" size="sm">
            Forgot your password?
          </Anchor>
        </Group>
        <Button type="submit" fullWidth loading={isRunning}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
