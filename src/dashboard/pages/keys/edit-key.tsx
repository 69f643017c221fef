/** The dialog that renames an API key and changes its limits. */
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useMay } from '@/dashboard/account'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { perform } from '@/people/client'
import { KeyDialog } from './key-dialog'
import { changesFrom, checksOfKey, formOfKey, type KeyForm } from './key-form'
import { type KeyBody, keysChanged } from './keys-data'
import { BudgetField, LimitFields } from './limit-fields'

export function EditKey({ item }: { item: KeyBody }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open}>
        Edit
      </Button>
      <KeyDialog title={`Edit “${item.name}”`} isOpen={isOpen} close={close}>
        <EditForm item={item} close={close} />
      </KeyDialog>
    </>
  )
}

function EditForm({ item, close }: { item: KeyBody; close(): void }) {
  const before = formOfKey(item)
  const may = useMay()
  const form = useForm<KeyForm>({ initialValues: before, validate: checksOfKey(before) })
  const submission = useSubmission(form, async (fields) => {
    const changes = changesFrom(before, fields)
    if (Object.keys(changes).length > 0) {
      await perform('PATCH /keys/:id', { id: item.id, ...changes })
      await keysChanged()
      notifyDone('The changes hold from the next request on.')
    }
    close()
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Save">
      {!item.builtIn && may('keys.use') && <TextInput label="Name" maxLength={200} {...form.getInputProps('name')} />}
      {may('keys.use') ? <LimitFields form={form} /> : <BudgetField form={form} />}
    </DialogForm>
  )
}
