/** The settings for the sign-in address, whose change waits for a confirmation. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { confirm } from '@/dashboard/components/confirm'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { askAgain } from '@/dashboard/query'
import { performOwn } from '@/people/client'
import { AnyCodeField } from './password-prompt'
import { checkEmail, checkEntered, useSignInOptions } from './rules'
import { EmailField } from './sign-in-form'

const PENDING_KEY = ['pending-address']

type Pending = { email: string; expiresAt: string }
type EmailSectionProps = { viewer: { email: string; isEmailVerified: boolean; isTotpEnabled: boolean } }

export function EmailSection({ viewer }: EmailSectionProps) {
  const { email, isEmailVerified, isTotpEnabled } = viewer
  const options = useSignInOptions()
  return (
    <Section
      title="E-mail address"
      description="The address for signing in. It changes once you have opened the link mailed to the new one."
    >
      <Stack gap="md" align="flex-start">
        <TextInput
          label="Address"
          description={isEmailVerified ? 'Confirmed.' : undefined}
          value={email}
          readOnly
          variant="filled"
          w="100%"
          maw={FORM_WIDTH}
        />
        <Loaded query={options}>
          {({ isPasswordResetPossible }) =>
            isPasswordResetPossible ? (
              <Change asksForCode={isTotpEnabled} />
            ) : (
              <Text size="sm">This service sends no mail. Ask its operator to change the address.</Text>
            )
          }
        </Loaded>
      </Stack>
    </Section>
  )
}

function Change({ asksForCode }: { asksForCode: boolean }) {
  const pending = useQuery({ queryKey: PENDING_KEY, queryFn: () => performOwn('GET /session/address', {}) })
  const [isOpen, { open, close }] = useDisclosure()
  const isPhone = useMediaQuery('(max-width: 48em)')
  return (
    <>
      <Loaded query={pending}>{(told) => told.pending && <Waiting pending={told.pending} />}</Loaded>
      <Button variant="default" onClick={open}>
        Change the address
      </Button>
      <Modal opened={isOpen} onClose={close} title="Change the address" fullScreen={isPhone === true} centered>
        <ChangeForm asksForCode={asksForCode} onDone={close} />
      </Modal>
    </>
  )
}

function Waiting({ pending: { email, expiresAt } }: { pending: Pending }) {
  return (
    <Alert variant="light" color="yellow" title="A new address waits for its confirmation" w="100%">
      <Stack gap="sm" align="flex-start">
        <Text size="sm" className="wrap-anywhere">
          Open the link in the mail to {email}, until <Moment at={expiresAt} />. Nothing changes before.
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => void sendAgain().catch(notifyError)}>
            Send again
          </Button>
          <Button size="xs" variant="default" onClick={() => askToCancel(email)}>
            Cancel the change
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

async function sendAgain(): Promise<void> {
  const { email } = await performOwn('POST /session/address/resend', {})
  await askAgain({ queryKey: PENDING_KEY })
  notifyDone(`Another mail is on its way to ${email}. The link of before is void.`)
}

function askToCancel(email: string): void {
  confirm({
    title: 'Cancel the change?',
    body: `The link in the mail to ${email} stops working.`,
    action: 'Cancel the change',
    async run() {
      await performOwn('DELETE /session/address', {})
      await askAgain({ queryKey: PENDING_KEY })
      notifyDone('Your address stays as it is.')
    },
  })
}

function ChangeForm({ asksForCode, onDone }: { asksForCode: boolean; onDone(): void }) {
  const form = useForm({
    initialValues: { email: '', password: '', code: '' },
    validate: {
      email: checkEmail,
      password: checkEntered('your password'),
      code: (code) => (asksForCode && code.trim() === '' ? 'Enter a code.' : null),
    },
  })
  const submission = useSubmission(form, async ({ email, password, code }) => {
    const proof = { password, ...(asksForCode && { code: code.trim() }) }
    const pending = await performOwn('POST /session/address', { email: email.trim(), ...proof })
    await askAgain({ queryKey: PENDING_KEY })
    notifyDone(`A link is on its way to ${pending.email}.`)
    onDone()
  })
  return (
    <PlainForm
      submission={submission}
      action="Send the link"
      button={{ ml: 'auto' }}
      lead={
        <Text size="sm">
          A link is mailed to the new address. Once you have opened it, you sign in by that one, and your other sessions
          end. Your former address gets a mail by which it can be undone for seven days.
        </Text>
      }
    >
      <EmailField
        label="New e-mail address"
        autoComplete="email"
        maxLength={254}
        data-autofocus
        {...form.getInputProps('email')}
      />
      <PasswordField purpose="current" label="Your password" {...form.getInputProps('password')} />
      {asksForCode && <AnyCodeField {...form.getInputProps('code')} />}
    </PlainForm>
  )
}
