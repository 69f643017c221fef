/** The page of the link mailed to a former address: it restores that address and asks for a new password. Opening it changes nothing. */
import { Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from '@/dashboard/client'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { viewerChanged } from '@/dashboard/session'
import { performOwn } from '@/people/client'
import { useMailedToken } from './arrival'
import { TextLink } from './links'
import { PublicFrame } from './public-frame'
import { ChoosePassword } from './reset-password-page'
import { BrokenLink, SignInForm } from './sign-in-form'

export function UndoAddressPage() {
  const token = useMailedToken()
  const [isBroken, setBroken] = useState(token === '')
  const [resetToken, setResetToken] = useState<string>()
  if (resetToken !== undefined) {
    const told = 'Your address is restored, all sessions have ended, and the old password no longer works.'
    return <ChoosePassword token={resetToken} description={told} />
  }
  return (
    <PublicFrame title="Put this address back?" footer={<TextLink href="/sign-in">Sign in</TextLink>}>
      {isBroken ? (
        <BrokenLink href="/sign-in" action="Sign in">
          It works once, within seven days, and not after an earlier address was put back. If you can’t sign in, ask the
          operator of this service.
        </BrokenLink>
      ) : (
        <UndoForm token={token} onUndone={setResetToken} onBroken={() => setBroken(true)} />
      )}
    </PublicFrame>
  )
}

type UndoFormProps = { token: string; onUndone(resetToken: string): void; onBroken(): void }

function UndoForm({ token, onUndone, onBroken }: UndoFormProps) {
  const form = useForm({ initialValues: {} })
  const submission = useSubmission(form, async () => {
    try {
      const { resetToken } = await performOwn('POST /session/address/undo', { token })
      await viewerChanged()
      onUndone(resetToken)
    } catch (refusal) {
      if (!(refusal instanceof ApiError && refusal.param === 'token')) throw refusal
      onBroken()
    }
  })
  return (
    <SignInForm submission={submission} action="Put it back">
      <Text>
        You sign in by the address of this mail again. All sessions end, and you choose a new password in the next step.
      </Text>
    </SignInForm>
  )
}
