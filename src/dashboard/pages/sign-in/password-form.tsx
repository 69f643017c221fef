/** The form of the first step of signing in: address and password. */
import { Anchor, Group } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from 'wouter'
import { ApiError, answer, api } from '@/dashboard/client'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { ResendButton } from './resend-button'
import { checkEmail, checkEntered } from './rules'
import { EmailField, SignInForm } from './sign-in-form'

type PasswordFormProps = { onSignedIn(): Promise<void>; onCodeRequired(): void }

export function PasswordForm({ onSignedIn, onCodeRequired }: PasswordFormProps) {
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
