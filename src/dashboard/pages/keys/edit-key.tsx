/** The dialog that renames an API key and changes its limits. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { accountApi, useMay } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { KeyDialog } from './key-dialog'
import { CHECKS, changesFrom, fieldsOf, type KeyFields } from './key-form'
import { type KeyBody, keysChanged } from './keys-data'
import { BudgetField, LimitFields } from './limit-fields'

/** The button and its dialog. */
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
  const before = fieldsOf(item)
  const may = useMay()
  // A day that is past already is no fault of whoever changes something else.
  const expiresAt = (day: string) => (day === before.expiresAt ? null : CHECKS.expiresAt(day))
  const form = useForm<KeyFields>({ initialValues: before, validate: { ...CHECKS, expiresAt } })
  const { submit, isRunning, error } = useSubmission(form, async (fields) => {
    const changes = changesFrom(before, fields)
    if (Object.keys(changes).length > 0) {
      await answer(accountApi().keys({ id: item.id }).patch(changes))
      await keysChanged()
      notifyDone('The changes hold from the next request on.')
    }
    close()
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <FormError error={error} />
        {!item.builtIn && may('keys.use') && <TextInput label="Name" maxLength={200} {...form.getInputProps('name')} />}
        {may('keys.use') ? <LimitFields form={form} /> : <BudgetField form={form} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={isRunning}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
