/** The page of the link mailed to a new address: entering the password completes the change. Opening it changes nothing. */
import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '@/dashboard/client'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { viewerChanged } from '@/dashboard/session'
import { performOwn } from '@/people/client'
import { useMailedToken } from './arrival'
import { TextLink } from './links'
import { PublicFrame } from './public-frame'
import { checkEntered } from './rules'
import { BrokenLink, SignInForm } from './sign-in-form'

export function ConfirmAddressPage() {
  const token = useMailedToken()
  const [state, setState] = useState<'asking' | 'done' | 'broken'>(token === '' ? 'broken' : 'asking')
  if (state === 'done') {
    return (
      <PublicFrame title="Address changed" description="You sign in by the new address from now on.">
        <Button component={Link} href="/settings" fullWidth>
          Go on
        </Button>
      </PublicFrame>
    )
  }
  return (
    <PublicFrame
      title="Confirm your new address"
      description={state === 'asking' ? 'Enter your password.' : undefined}
      footer={<TextLink href="/sign-in">Back to sign in</TextLink>}
    >
      {state === 'broken' ? (
        <BrokenLink href="/settings" action="Go to the settings">
          It works once and for 24 hours. In the settings you can ask for a new one.
        </BrokenLink>
      ) : (
        <ConfirmForm token={token} onEnd={setState} />
      )}
    </PublicFrame>
  )
}

function ConfirmForm({ token, onEnd }: { token: string; onEnd(state: 'done' | 'broken'): void }) {
  const form = useForm({ initialValues: { password: '' }, validate: { password: checkEntered('your password') } })
  const submission = useSubmission(form, async ({ password }) => {
    try {
      await performOwn('POST /session/address/confirm', { token, password })
      await viewerChanged()
      onEnd('done')
    } catch (refusal) {
      if (!(refusal instanceof ApiError && refusal.param === 'token')) throw refusal
      onEnd('broken')
    }
  })
  return (
    <SignInForm submission={submission} action="Confirm the address">
      <PasswordField purpose="current" label="Password" autoFocus {...form.getInputProps('password')} />
    </SignInForm>
  )
}
