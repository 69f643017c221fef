/** The page to choose a new password, opened by a mailed link. */
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
import { checkPasswordLength } from './rules'
import { BrokenLink, SignInForm } from './sign-in-form'

/** The page at `/reset-password`. */
export function ResetPasswordPage() {
  return <ChoosePassword token={useMailedToken()} />
}

/** The form for a new password, with a token given by the page. */
export function ChoosePassword({ token, description }: { token: string; description?: string }) {
  const [isDone, setDone] = useState(false)
  if (isDone) {
    return (
      <PublicFrame title="Password changed" description="All sessions were ended. Sign in with the new password.">
        <Button component={Link} href="/sign-in" fullWidth>
          Sign in
        </Button>
      </PublicFrame>
    )
  }
  return (
    <PublicFrame
      title="Choose a new password"
      description={description}
      footer={<TextLink href="/sign-in">Back to sign in</TextLink>}
    >
      {token === '' ? <ResetLinkBroken /> : <ResetForm token={token} onDone={() => setDone(true)} />}
    </PublicFrame>
  )
}

function ResetForm({ token, onDone }: { token: string; onDone(): void }) {
  const form = useForm({ initialValues: { newPassword: '' }, validate: { newPassword: checkPasswordLength } })
  const submission = useSubmission(form, async ({ newPassword }) => {
    await performOwn('POST /session/password/reset', { token, newPassword })
    await viewerChanged()
    onDone()
  })
  const { error } = submission
  if (error instanceof ApiError && error.param === 'token') return <ResetLinkBroken />
  return (
    <SignInForm submission={submission} action="Change password">
      <PasswordField
        purpose="new"
        label="New password"
        description="At least 8 characters."
        autoFocus
        {...form.getInputProps('newPassword')}
      />
    </SignInForm>
  )
}

function ResetLinkBroken() {
  return (
    <BrokenLink href="/forgot-password" action="Ask for a new link">
      It works once and for one hour. Ask for a new one.
    </BrokenLink>
  )
}
