/** The page of an invitation's link: the person signs in or up, then accepts or declines. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { capitalise } from '@/dashboard/format'
import { forgetInvitation, rememberedInvitation, rememberInvitation } from '@/dashboard/invitation'
import { signOut, useViewer } from '@/dashboard/session'
import { performOwn } from '@/people/client'
import { useMailedToken } from '@/people/sign-in/pages/arrival'
import { PublicFrame } from '@/people/sign-in/pages/public-frame'
import { useSignInOptions } from '@/people/sign-in/pages/rules'
import { ROLE_WORDS } from './words'

export function InvitationPage() {
  const mailed = useMailedToken()
  const [token] = useState(() => mailed || rememberedInvitation())
  const viewer = useViewer()
  if (token === '') return <BrokenInvitation email={viewer.data?.email} />
  if (viewer.isPending) return <Waiting />
  if (viewer.data === undefined) return <Waiting error={viewer.error} retry={viewer.refetch} />
  if (viewer.data === null) return <SignInFirst token={token} />
  return <Offer token={token} email={viewer.data.email} />
}

function Waiting({ error, retry }: { error?: Error; retry?: () => unknown }) {
  return (
    <PublicFrame title="Invitation">
      {error ? <ErrorState error={error} retry={retry} /> : <Loader role="status" aria-label="Loading" />}
    </PublicFrame>
  )
}

function SignInFirst({ token }: { token: string }) {
  const options = useSignInOptions()
  useEffect(() => rememberInvitation(token), [token])
  return (
    <PublicFrame
      title="You are invited"
      description="Sign in with the address that the invitation was sent to, and accept it then."
    >
      <Stack gap="sm">
        <Button component={Link} href="/sign-in" fullWidth>
          Sign in
        </Button>
        {options.data?.signUp !== 'closed' && (
          <Button component={Link} href="/sign-up" fullWidth variant="default">
            Create an account
          </Button>
        )}
      </Stack>
    </PublicFrame>
  )
}

function Offer({ token, email }: { token: string; email: string }) {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error>()
  const offer = useQuery({
    queryKey: ['invitation', token],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => performOwn('POST /invitations/show', { token }),
  })
  async function decide(act: () => Promise<string>) {
    setRunning(true)
    setError(undefined)
    try {
      const address = await act()
      forgetInvitation()
      // Reloads the document, as for every change of account, because the person's list of accounts changed.
      window.location.assign(address)
    } catch (refusal) {
      setError(refusal instanceof Error ? refusal : new Error(String(refusal)))
      setRunning(false)
    }
  }
  const accept = async () => `/dashboard/a/${(await performOwn('POST /invitations/accept', { token })).accountId}`
  const decline = async () => {
    await performOwn('POST /invitations/decline', { token })
    return '/dashboard'
  }
  if (offer.isError) return <BrokenInvitation email={email} error={offer.error} retry={offer.refetch} />
  if (!offer.data) return <Waiting />
  const { accountName, invitedBy, role } = offer.data
  const { label, text } = ROLE_WORDS[role]
  return (
    <PublicFrame
      title={`Join ${accountName}`}
      description={`${invitedBy} invites you to share this account.`}
      footer={<SignedInAs email={email} />}
    >
      <Stack gap="md">
        <FormError error={error} />
        <Text size="sm">
          Your role: <b>{label}</b>. {capitalise(text)}
        </Text>
        <Group grow>
          <Button variant="default" disabled={isRunning} onClick={() => void decide(decline)}>
            Decline
          </Button>
          <Button loading={isRunning} onClick={() => void decide(accept)}>
            Accept
          </Button>
        </Group>
      </Stack>
    </PublicFrame>
  )
}

/** The text for any invalid token. */
const VOID = 'This invitation is not valid, or no longer. Ask for a new one.'

type BrokenInvitationProps = {
  email: string | undefined
  error?: Error
  retry?: () => void
}

function BrokenInvitation({ email, error, retry }: BrokenInvitationProps) {
  const isVoid = !(error instanceof ApiError) || error.status === 410 || error.param === 'token'
  useEffect(() => {
    if (isVoid && error) forgetInvitation()
  }, [isVoid, error])
  if (error && retry && !(error instanceof ApiError && error.status < 500 && error.status > 0)) {
    return <Waiting error={error} retry={retry} />
  }
  return (
    <PublicFrame title="Invitation" footer={email !== undefined && <SignedInAs email={email} />}>
      <Alert color="red" title="This invitation cannot be accepted" role="alert">
        <Stack gap="sm" align="flex-start">
          <Text size="sm">{error ? (isVoid ? VOID : error.message) : 'Open the link of the mail once more.'}</Text>
          {isVoid && <Text size="sm">It works once, for 7 days, and for the address that it was sent to.</Text>}
          <Button component={Link} href="/" size="xs" variant="default">
            Go to the dashboard
          </Button>
        </Stack>
      </Alert>
    </PublicFrame>
  )
}

/** Shows the signed-in person and offers to sign out: an invitation is for one address. */
function SignedInAs({ email }: { email: string }) {
  return (
    <>
      Signed in as <span className="wrap-anywhere">{email}</span>.{' '}
      <Anchor component="button" type="button" inherit underline="always" onClick={() => void signOut()}>
        Sign out
      </Anchor>
    </>
  )
}
