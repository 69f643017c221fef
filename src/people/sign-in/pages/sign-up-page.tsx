/** The sign-up page, with a note about the confirmation mail if addresses must be confirmed. */
import { Alert, Anchor, Loader, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconMailCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { Redirect } from 'wouter'
import { BRAND } from '@/dashboard/brand'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { useViewer } from '@/dashboard/session'
import { performOwn } from '@/people/client'
import { useArrival, useNext } from './arrival'
import { ResendButton, TextLink } from './links'
import { PublicFrame } from './public-frame'
import { checkEmail, checkEntered, checkPasswordLength, useSignInOptions } from './rules'
import { EmailField, SignInForm } from './sign-in-form'

export function SignUpPage() {
  const [mailedTo, setMailedTo] = useState<string>()
  const viewer = useViewer()
  const options = useSignInOptions()
  const next = useNext()
  if (viewer.data) return <Redirect to={next} replace />
  if (mailedTo !== undefined) return <MailSent email={mailedTo} />
  return (
    <PublicFrame
      title="Create an account"
      description="It starts empty and costs nothing; you pay for what you use."
      footer={
        <>
          Have an account already? <TextLink href="/sign-in">Sign in</TextLink>
        </>
      }
    >
      {options.isPending && <Loader role="status" aria-label="Loading" />}
      {options.data?.signUp === 'closed' && (
        <Alert color="blue">Sign-up is closed. Ask the operator of this service for an account.</Alert>
      )}
      {options.data?.signUp !== 'closed' && !options.isPending && <SignUpForm onMailSent={setMailedTo} />}
    </PublicFrame>
  )
}

function SignUpForm({ onMailSent }: { onMailSent(email: string): void }) {
  const arrive = useArrival()
  const form = useForm({
    initialValues: { name: '', email: '', password: '' },
    validate: { name: checkEntered('your name'), email: checkEmail, password: checkPasswordLength },
  })
  const submission = useSubmission(form, async ({ name, email, password }) => {
    const person = { name: name.trim(), email: email.trim(), password }
    const { status } = await performOwn('POST /session/sign-up', person)
    if (status === 'signed_in') await arrive()
    else onMailSent(person.email)
  })
  return (
    <SignInForm submission={submission} action="Create account">
      <TextInput label="Name" autoComplete="name" maxLength={100} autoFocus {...form.getInputProps('name')} />
      <EmailField {...form.getInputProps('email')} />
      <PasswordField
        purpose="new"
        label="Password"
        description="At least 8 characters. A few words are easier to remember than signs, and harder to guess."
        {...form.getInputProps('password')}
      />
      {BRAND.termsUrl !== undefined && (
        <Text size="sm" c="dimmed">
          By creating an account you accept the{' '}
          <Anchor href={BRAND.termsUrl} inherit underline="always" target="_blank" rel="noreferrer">
            terms
          </Anchor>
          .
        </Text>
      )}
    </SignInForm>
  )
}

function MailSent({ email }: { email: string }) {
  return (
    <PublicFrame title="Check your mail" footer={<TextLink href="/sign-in">Back to sign in</TextLink>}>
      <Stack gap="md" align="flex-start">
        <IconMailCheck size={36} stroke={1.5} aria-hidden="true" />
        <Text>
          We have sent a link to <b className="wrap-anywhere">{email}</b>. Open it within 24 hours to confirm the
          address.
        </Text>
        <Text size="sm" c="dimmed">
          Nothing there? Look among the unwanted mail, or ask for another one.
        </Text>
        <ResendButton email={email} />
      </Stack>
    </PublicFrame>
  )
}
