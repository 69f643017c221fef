/** What is shown in the place of an invitation that cannot be accepted, and how to go on from there. */
import { Alert, Anchor, Button, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { ApiError } from '@/dashboard/client'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { forgetInvitation } from '@/dashboard/invitation'
import { PublicFrame } from '@/dashboard/pages/sign-in/public-frame'
import { signOut } from '@/dashboard/session'

type BrokenInvitationProps = {
  /** Of whoever is signed in. */
  email: string | undefined
  /** What the server said; nothing where there was no token to ask about. */
  error?: Error
  retry?: () => void
}

/** The page in its place. */
export function BrokenInvitation({ email, error, retry }: BrokenInvitationProps) {
  const isVoid = !(error instanceof ApiError) || error.status === 410
  useEffect(() => {
    if (isVoid && error) forgetInvitation()
  }, [isVoid, error])
  if (error && retry && !(error instanceof ApiError && error.status < 500 && error.status > 0)) {
    return (
      <PublicFrame title="Invitation">
        <ErrorState error={error} retry={retry} />
      </PublicFrame>
    )
  }
  return (
    <PublicFrame title="Invitation" footer={email !== undefined && <SignedInAs email={email} />}>
      <Alert color="red" title="This invitation cannot be accepted" role="alert">
        <Stack gap="sm" align="flex-start">
          <Text size="sm">{error?.message ?? 'Open the link of the mail once more.'}</Text>
          {isVoid && <Text size="sm">It works once, for 7 days, and for the address that it was sent to.</Text>}
          <Button component={Link} href="/" size="xs" variant="default">
            Go to the dashboard
          </Button>
        </Stack>
      </Alert>
    </PublicFrame>
  )
}

/** Who is signed in, and the way to be somebody else: an invitation is for one address. */
export function SignedInAs({ email }: { email: string }) {
  return (
    <>
      Signed in as <span className="wrap-anywhere">{email}</span>.{' '}
      <Anchor component="button" type="button" inherit underline="always" onClick={() => void signOut()}>
        Sign out
      </Anchor>
    </>
  )
}
