/** The dialog that renames an API key and changes its limits. */
import { Button, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMay } from '@/dashboard/account'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { notifyDone } from '@/dashboard/components/notify'
import { performVersioned } from '@/people/client'
import { KEY_NAME } from '@/people/keys/fields'
import { useSharedForm } from '@/people/newer'
import { KeyDialog } from './key-dialog'
import { changesFrom, checksOfKey, formOfKey, KEY_LABELS } from './key-form'
import { type KeyBody, keysChanged } from './keys-data'
import { BudgetField, LimitFields } from './limit-fields'

type EditKeyProps = { item: KeyBody; etag: string | undefined }

export function EditKey({ item, etag }: EditKeyProps) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open}>
        Edit
      </Button>
      <KeyDialog title={`Edit “${item.name}”`} isOpen={isOpen} close={close}>
        <EditForm item={item} etag={etag} close={close} />
      </KeyDialog>
    </>
  )
}

function EditForm({ item, etag, close }: EditKeyProps & { close(): void }) {
  const may = useMay()
  const { form, submission, newer } = useSharedForm({
    given: { value: { item }, etag },
    formOf: (given: { item: KeyBody }) => formOfKey(given.item),
    labels: KEY_LABELS,
    checks: checksOfKey,
    async save(values, before, version) {
      const changes = changesFrom(before, values)
      if (Object.keys(changes).length > 0) {
        await performVersioned('PATCH /keys/:id', { id: item.id, ...changes }, version)
        await keysChanged()
        notifyDone('The changes hold from the next request on.')
      }
      close()
      return undefined
    },
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Save">
      {!item.builtIn && may('keys.use') && (
        <TextInput label={KEY_NAME.label} maxLength={KEY_NAME.most} {...form.getInputProps('name')} />
      )}
      {may('keys.use') ? <LimitFields form={form} /> : <BudgetField form={form} />}
      {newer}
    </DialogForm>
  )
}
