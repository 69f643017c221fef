/** The dialog that makes a management key, and the one moment in which the whole key can be seen. */
import { Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { KeyDialog } from '@/dashboard/pages/keys/key-dialog'
import { today } from '@/dashboard/pages/keys/key-form'
import { ShownOnce } from '@/dashboard/pages/keys/shown-once'
import { createManagementKey, RESOURCES, type Scope } from './management-data'

/** Must stay in the page while it is open, whatever becomes of the list: the key is shown nowhere else. */
export function CreateManagementKey({ isOpen, close }: { isOpen: boolean; close(): void }) {
  const [created, setCreated] = useState<string>()
  function finish() {
    close()
    setCreated(undefined)
  }
  return (
    <KeyDialog
      title={created === undefined ? 'Create management key' : 'Your new management key'}
      isOpen={isOpen}
      close={finish}
      isSticky={created !== undefined}
    >
      {created === undefined ? (
        <CreateForm onCreated={setCreated} cancel={close} />
      ) : (
        <Stack gap="md">
          <ShownOnce label="Management key" value={created} />
          <Group justify="flex-end">
            <Button onClick={finish}>I have copied the key</Button>
          </Group>
        </Stack>
      )}
    </KeyDialog>
  )
}

const NOTHING = 'none'
type Fields = { name: string; expiresAt: string; levels: Record<string, string> }

const EMPTY: Fields = {
  name: '',
  expiresAt: '',
  levels: Object.fromEntries(RESOURCES.map(({ read }) => [nameOf(read), NOTHING])),
}

function CreateForm({ onCreated, cancel }: { onCreated(key: string): void; cancel(): void }) {
  const form = useForm<Fields>({
    initialValues: EMPTY,
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  })
  const { submit, isRunning, error } = useSubmission(form, async ({ name, expiresAt, levels }) => {
    const scopes = Object.values(levels).filter((level) => level !== NOTHING) as Scope[]
    const end = expiresAt === '' ? null : `${expiresAt}T23:59:59Z`
    onCreated(await createManagementKey({ name: name.trim(), scopes, expiresAt: end }))
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <FormError error={error} />
        <TextInput
          label="Name"
          description="To tell keys apart, such as the program that will use it"
          maxLength={200}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Text size="sm">It may do nothing but what you choose here, and that in the whole account.</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          {RESOURCES.map((resource) => (
            <Select
              key={resource.read}
              label={resource.label}
              allowDeselect={false}
              data={[
                { value: NOTHING, label: 'Nothing' },
                { value: resource.read, label: 'Read' },
                ...('write' in resource ? [{ value: resource.write, label: 'Read and change' }] : []),
              ]}
              {...form.getInputProps(`levels.${nameOf(resource.read)}`)}
            />
          ))}
        </SimpleGrid>
        <TextInput
          type="date"
          label="Last day"
          description="Works until the end of this day (UTC); empty: for ever"
          min={today()}
          {...form.getInputProps('expiresAt')}
        />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button type="submit" loading={isRunning}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** `keys` of `keys:read`. */
function nameOf(scope: Scope): string {
  return scope.slice(0, scope.indexOf(':'))
}
