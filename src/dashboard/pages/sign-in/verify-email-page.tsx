/** The page that confirms an e-mail address, with the link of a mail and the password chosen at sign-up. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ApiError, answer, api } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { useArrival, useMailedToken } from './arrival'
import { PublicFrame } from './public-frame'
import { checkEntered } from './rules'
import { TextLink } from './text-link'

export function VerifyEmailPage() {
  const token = useMailedToken()
  const [isBroken, setBroken] = useState(token === '')
  const footer = (
    <>
      Forgotten the password? <TextLink href="/forgot-password">Choose a new one</TextLink>: that confirms the address
      as well.
    </>
  )
  return (
    <PublicFrame
      title="Confirm your address"
      description={isBroken ? undefined : 'Enter the password that you chose when you signed up.'}
      footer={footer}
    >
      {isBroken ? <BrokenLink /> : <VerifyForm token={token} onBroken={() => setBroken(true)} />}
    </PublicFrame>
  )
}

function VerifyForm({ token, onBroken }: { token: string; onBroken(): void }) {
  const arrive = useArrival()
  const [, navigate] = useLocation()
  const form = useForm({ initialValues: { password: '' }, validate: { password: checkEntered('your password') } })
  const { submit, isRunning, error } = useSubmission(form, async ({ password }) => {
    try {
      const { status } = await answer(api.session.email.verify.post({ token, password }))
      if (status === 'signed_in') await arrive()
      else navigate('/sign-in')
    } catch (refusal) {
      if (!(refusal instanceof ApiError && refusal.param === 'token')) throw refusal
      onBroken()
    }
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <FormError error={error} />
        <PasswordField purpose="current" label="Password" autoFocus {...form.getInputProps('password')} />
        <Button type="submit" fullWidth loading={isRunning}>
          Confirm and sign in
        </Button>
      </Stack>
    </form>
  )
}

function BrokenLink() {
  return (
    <Alert color="red" title="This link is no longer valid" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">It works once and for 24 hours. Sign in: you can ask for a new one there.</Text>
        <Button component={Link} href="/sign-in" size="xs" variant="default">
          Sign in
        </Button>
      </Stack>
    </Alert>
  )
}
