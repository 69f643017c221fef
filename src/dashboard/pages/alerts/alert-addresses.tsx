/** The further addresses on the alerts page: confirmed and unconfirmed ones, and a form to add one. */
import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { confirm } from '@/dashboard/components/confirm'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { checkEmail } from '@/dashboard/pages/sign-in/rules'
import { type AlertsBody, addAlertAddress, askAddressAgain, removeAlertAddress } from './alerts-data'

const MAX_ADDRESSES = 5

type Address = NonNullable<AlertsBody['account']>['addresses'][number]

export function AlertAddresses({ addresses, mayChange }: { addresses: readonly Address[]; mayChange: boolean }) {
  return (
    <Section
      title="Further addresses"
      description="They get the alerts of the account, like its owners and billing members, once someone has opened the mailed link and confirmed."
    >
      <Stack gap="md">
        {addresses.length === 0 && <Text size="sm">Nobody else gets them.</Text>}
        {addresses.map((address) => (
          <AddressRow key={address.email} address={address} mayChange={mayChange} />
        ))}
        {mayChange && addresses.length < MAX_ADDRESSES && <AddForm />}
        {mayChange && addresses.length >= MAX_ADDRESSES && (
          <Text size="sm">These are all that an account can have. Remove one to add another.</Text>
        )}
      </Stack>
    </Section>
  )
}

function AddressRow({ address: { email, isConfirmed }, mayChange }: { address: Address; mayChange: boolean }) {
  return (
    <Group gap="sm" role="group" aria-label={email}>
      <Text size="sm" className="wrap-anywhere">
        {email}
      </Text>
      <Badge variant="light" color={isConfirmed ? 'green' : 'yellow'}>
        {isConfirmed ? 'Confirmed' : 'Waits for confirmation'}
      </Badge>
      {mayChange && (
        <Group gap="xs">
          {!isConfirmed && (
            <Button size="xs" variant="default" onClick={() => void sendAgain(email).catch(notifyError)}>
              Send again
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => askToRemove(email)}>
            Remove
          </Button>
        </Group>
      )}
    </Group>
  )
}

async function sendAgain(email: string): Promise<void> {
  await askAddressAgain(email)
  notifyDone(`Another mail is on its way to ${email}. The link of before is void.`)
}

function askToRemove(email: string): void {
  confirm({
    title: 'Remove the address?',
    body: `${email} gets no more alerts of this account.`,
    action: 'Remove',
    async run() {
      await removeAlertAddress(email)
      notifyDone('The address was removed.')
    },
  })
}

function AddForm() {
  const form = useForm({ initialValues: { email: '' }, validate: { email: checkEmail } })
  const submission = useSubmission(form, async ({ email }) => {
    await addAlertAddress(email.trim())
    form.reset()
    notifyDone(`A link is on its way to ${email.trim()}.`)
  })
  return (
    <PlainForm submission={submission} action="Add the address" maw={FORM_WIDTH}>
      <TextInput
        label="Another address"
        description="It gets a mail with a link to confirm, and nothing else before that"
        type="email"
        autoComplete="off"
        maxLength={254}
        {...form.getInputProps('email')}
      />
    </PlainForm>
  )
}
