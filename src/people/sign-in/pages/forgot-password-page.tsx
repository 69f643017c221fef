/** The page to request a link for a new password. */
import { Alert, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconMailCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { performOwn } from '@/people/client'
import { TextLink } from './links'
import { PublicFrame } from './public-frame'
import { checkEmail, useSignInOptions } from './rules'
import { EmailField, SignInForm } from './sign-in-form'

export function ForgotPasswordPage() {
  const [mailedTo, setMailedTo] = useState<string>()
  const options = useSignInOptions()
  const footer = <TextLink href="/sign-in">Back to sign in</TextLink>
  if (mailedTo !== undefined) {
    return (
      <PublicFrame title="Check your mail" footer={footer}>
        <Stack gap="md" align="flex-start">
          <IconMailCheck size={36} stroke={1.5} aria-hidden="true" />
          <Text>
            If <b className="wrap-anywhere">{mailedTo}</b> has an account, a link to choose a new password is on its
            way. It works once, within one hour.
          </Text>
          {options.data?.isMailConfigured === false && (
            <Text size="sm" c="dimmed">
              This service sends no mail yet: the link is in its log.
            </Text>
          )}
        </Stack>
      </PublicFrame>
    )
  }
  return (
    <PublicFrame title="Forgot your password?" description="We mail you a link to choose a new one." footer={footer}>
      {options.data?.isPasswordResetPossible === false ? (
        <Alert color="blue">This service sends no mail. Ask its operator for a new password.</Alert>
      ) : (
        <ForgotForm onMailSent={setMailedTo} />
      )}
    </PublicFrame>
  )
}

function ForgotForm({ onMailSent }: { onMailSent(email: string): void }) {
  const form = useForm({ initialValues: { email: '' }, validate: { email: checkEmail } })
  const submission = useSubmission(form, async (values) => {
    const email = values.email.trim()
    await performOwn('POST /session/password/forgot', { email })
    onMailSent(email)
  })
  return (
    <SignInForm submission={submission} action="Send the link">
      <EmailField autoFocus {...form.getInputProps('email')} />
    </SignInForm>
  )
}
