/** The pages for keys that were found in public. One reports a key; the other, linked from a mail, deactivates it. */
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from '@/dashboard/client'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { performOwn } from '@/people/client'
import { useMailedToken } from '@/people/sign-in/pages/arrival'
import { TextLink } from '@/people/sign-in/pages/links'
import { PublicFrame } from '@/people/sign-in/pages/public-frame'
import { BrokenLink, SignInForm } from '@/people/sign-in/pages/sign-in-form'

/** The page at `/leaked-key`. */
export function LeakedKeyPage() {
  const [isTold, setTold] = useState(false)
  return (
    <PublicFrame
      title={isTold ? 'Thank you' : 'Found a key in public?'}
      description={isTold ? undefined : 'Paste its text. Its owners get a mail, and can revoke it at once.'}
      footer={<TextLink href="/sign-in">Sign in</TextLink>}
    >
      {isTold ? (
        <Stack gap="md" align="flex-start" role="status">
          <Text>If this key works, its owners have been mailed. We keep no copy of its text.</Text>
          <Button variant="default" onClick={() => setTold(false)}>
            Tell of another
          </Button>
        </Stack>
      ) : (
        <ReportForm onTold={() => setTold(true)} />
      )}
    </PublicFrame>
  )
}

function ReportForm({ onTold }: { onTold(): void }) {
  const form = useForm({
    initialValues: { key: '' },
    validate: { key: (text) => (text.trim() === '' ? 'Paste the text of the key.' : null) },
  })
  const submission = useSubmission(form, async ({ key }) => {
    await performOwn('POST /leaked-keys/report', { key })
    onTold()
  })
  return (
    <SignInForm submission={submission} action="Tell its people">
      <TextInput
        label="Text of the key"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={200}
        autoFocus
        {...form.getInputProps('key')}
      />
    </SignInForm>
  )
}

/** The page at `/leaked-key/off`. Opening it changes nothing, because link checkers open all links. */
export function SwitchOffPage() {
  const token = useMailedToken()
  const [state, setState] = useState<'asking' | 'off' | 'broken'>(token === '' ? 'broken' : 'asking')
  return (
    <PublicFrame
      title={state === 'off' ? 'The key is off' : 'Switch the key off?'}
      footer={<TextLink href="/sign-in">Sign in</TextLink>}
    >
      {state === 'asking' && <SwitchOffForm token={token} onEnd={setState} />}
      {state === 'off' && (
        <Text role="status">
          Requests with it are refused from now on. Your account has the other keys as they were.
        </Text>
      )}
      {state === 'broken' && (
        <BrokenLink href="/sign-in" action="Sign in">
          It works once, within seven days. Sign in to see the keys of your account.
        </BrokenLink>
      )}
    </PublicFrame>
  )
}

function SwitchOffForm({ token, onEnd }: { token: string; onEnd(state: 'off' | 'broken'): void }) {
  const form = useForm({ initialValues: {} })
  const submission = useSubmission(form, async () => {
    try {
      await performOwn('POST /leaked-keys/switch-off', { token })
      onEnd('off')
    } catch (refusal) {
      if (!(refusal instanceof ApiError && refusal.param === 'token')) throw refusal
      onEnd('broken')
    }
  })
  return (
    <SignInForm submission={submission} action="Switch it off">
      <Text>Programs that use the key that the mail names are refused from then on.</Text>
    </SignInForm>
  )
}
