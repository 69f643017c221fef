/** The dialog that transfers an API key to another member. */
import { Button, Select, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Loaded } from '@/dashboard/components/states/loaded'
import { type MemberItem, useMembers } from '@/people/members/pages/members-data'
import { KeyDialog } from './key-dialog'
import { type KeyBody, transferKey } from './keys-data'

export function TransferKey({ item }: { item: KeyBody }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open}>
        Transfer
      </Button>
      <KeyDialog title={`Transfer “${item.name}”`} isOpen={isOpen} close={close}>
        <Recipients item={item} close={close} />
      </KeyDialog>
    </>
  )
}

type TransferProps = { item: KeyBody; close(): void }

function Recipients({ item, close }: TransferProps) {
  const members = useMembers()
  return (
    <Loaded query={members}>
      {({ items }) => {
        const others = items.filter(({ userId, mayHaveKeys }) => mayHaveKeys && userId !== item.createdBy?.userId)
        return others.length === 0 ? (
          <Text size="sm">Nobody else in this account has a role that allows keys.</Text>
        ) : (
          <TransferForm item={item} others={others} close={close} />
        )
      }}
    </Loaded>
  )
}

function TransferForm({ item, others, close }: TransferProps & { others: readonly MemberItem[] }) {
  const form = useForm({
    initialValues: { userId: '' },
    validate: { userId: (userId) => (userId === '' ? 'Choose a member.' : null) },
  })
  const submission = useSubmission(form, async ({ userId }) => {
    await transferKey(item, userId)
    close()
    notifyDone(`“${item.name}” is another member's key now.`)
  })
  return (
    <DialogForm
      submission={submission}
      cancel={close}
      action="Transfer key"
      lead={<Text size="sm">Programs that use the key notice nothing. Its limits and what it has used stay.</Text>}
    >
      <Select
        label="To"
        placeholder="Choose a member"
        searchable
        data={others.map(({ userId, name, email }) => ({ value: userId, label: `${name} (${email})` }))}
        {...form.getInputProps('userId')}
      />
    </DialogForm>
  )
}
