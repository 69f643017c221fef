/** The page of the mailed link that confirms an alert address. Opening it changes nothing. */
import { Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '@/dashboard/client'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Loaded } from '@/dashboard/components/states/loaded'
import { performOwn } from '@/people/client'
import { useMailedToken } from '@/people/sign-in/pages/arrival'
import { TextLink } from '@/people/sign-in/pages/links'
import { PublicFrame } from '@/people/sign-in/pages/public-frame'
import { BrokenLink, SignInForm } from '@/people/sign-in/pages/sign-in-form'

type Question = { email: string; accountName: string; askedBy: string | null }

export function ConfirmAlertsPage() {
  const token = useMailedToken()
  const [confirmed, setConfirmed] = useState<Question>()
  const [isBroken, setBroken] = useState(token === '')
  const title = confirmed ? 'Alerts are on' : isBroken ? 'This link is not valid' : 'Do you want these alerts?'
  return (
    <PublicFrame title={title} footer={<TextLink href="/sign-in">Sign in</TextLink>}>
      {confirmed && (
        <Text role="status" className="wrap-anywhere">
          {confirmed.email} gets the alerts of the account of {confirmed.accountName} from now on. Each mail has a link
          that turns them off.
        </Text>
      )}
      {!confirmed && isBroken && (
        <BrokenLink href="/sign-in" action="Sign in">
          It works once, within seven days, and only the last one that was sent. Ask whoever wants you to get the alerts
          to send it again.
        </BrokenLink>
      )}
      {!confirmed && !isBroken && <Asking token={token} onConfirmed={setConfirmed} onBroken={() => setBroken(true)} />}
    </PublicFrame>
  )
}

type AskingProps = { token: string; onConfirmed(question: Question): void; onBroken(): void }

function Asking({ token, onConfirmed, onBroken }: AskingProps) {
  const question = useQuery({
    queryKey: ['alert-question', token],
    queryFn: () =>
      performOwn('POST /alert-addresses/show', { token }).catch((refusal: unknown) => {
        if (isBrokenLink(refusal)) onBroken()
        throw refusal
      }),
    retry: false,
  })
  return (
    <Loaded query={question}>{(asked) => <Answering asked={asked} {...{ token, onConfirmed, onBroken }} />}</Loaded>
  )
}

function Answering({ asked, token, onConfirmed, onBroken }: AskingProps & { asked: Question }) {
  const { email, accountName, askedBy } = asked
  const form = useForm({ initialValues: {} })
  const submission = useSubmission(form, async () => {
    try {
      onConfirmed(await performOwn('POST /alert-addresses/confirm', { token }))
    } catch (refusal) {
      if (!isBrokenLink(refusal)) throw refusal
      onBroken()
    }
  })
  return (
    <SignInForm submission={submission} action="Yes, send them">
      <Stack gap="sm" className="wrap-anywhere">
        <Text>
          {askedBy ?? 'The operator of this service'} wants alerts of the account of {accountName} to be sent to {email}
          : low credit, budgets, unusual spend, and keys that expire.
        </Text>
        <Text>If you did not expect it, close this page: no alerts are sent without your consent.</Text>
      </Stack>
    </SignInForm>
  )
}

function isBrokenLink(refusal: unknown): boolean {
  return refusal instanceof ApiError && refusal.param === 'token'
}
