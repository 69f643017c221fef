/** The page that confirms an e-mail address, with the mailed link and the password chosen at sign-up. */
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ApiError } from '@/dashboard/client'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { performOwn } from '@/people/client'
import { useArrival, useMailedToken } from './arrival'
import { TextLink } from './links'
import { PublicFrame } from './public-frame'
import { checkEntered } from './rules'
import { BrokenLink, SignInForm } from './sign-in-form'

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
      {isBroken ? (
        <BrokenLink href="/sign-in" action="Sign in">
          It works once and for 24 hours. Sign in: you can ask for a new one there.
        </BrokenLink>
      ) : (
        <VerifyForm token={token} onBroken={() => setBroken(true)} />
      )}
    </PublicFrame>
  )
}

function VerifyForm({ token, onBroken }: { token: string; onBroken(): void }) {
  const arrive = useArrival()
  const [, navigate] = useLocation()
  const form = useForm({ initialValues: { password: '' }, validate: { password: checkEntered('your password') } })
  const submission = useSubmission(form, async ({ password }) => {
    try {
      const { status } = await performOwn('POST /session/email/verify', { token, password })
      if (status === 'signed_in') await arrive()
      else navigate('/sign-in')
    } catch (refusal) {
      if (!(refusal instanceof ApiError && refusal.param === 'token')) throw refusal
      onBroken()
    }
  })
  return (
    <SignInForm submission={submission} action="Confirm and sign in">
      <PasswordField purpose="current" label="Password" autoFocus {...form.getInputProps('password')} />
    </SignInForm>
  )
}
