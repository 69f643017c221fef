/** The dialog that makes a management key, and the one moment in which the whole key can be seen. */
import { Select, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { KeyMaker } from '@/dashboard/pages/keys/key-dialog'
import { ShownOnce } from '@/dashboard/pages/keys/shown-once'
import { today } from '@/people/form-values'
import { KEY_FIELDS, KEY_NAME } from '@/people/keys/fields'
import { createManagementKey, RESOURCES, type Scope } from './management-data'

export function CreateManagementKey({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <KeyMaker
      title="Create management key"
      madeTitle="Your new management key"
      isOpen={isOpen}
      close={close}
      form={(onMade) => <CreateForm onCreated={onMade} cancel={close} />}
      made={(key, finish) => <ShownOnce label="Management key" value={key} finish={finish} />}
    />
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
  const submission = useSubmission(form, async ({ name, expiresAt, levels }) => {
    const scopes = Object.values(levels).filter((level) => level !== NOTHING) as Scope[]
    const end = expiresAt === '' ? null : `${expiresAt}T23:59:59Z`
    onCreated(await createManagementKey({ name: name.trim(), scopes, expiresAt: end }))
  })
  return (
    <DialogForm submission={submission} cancel={cancel} action="Create key">
      <TextInput
        label={KEY_NAME.label}
        description={KEY_NAME.help}
        maxLength={KEY_NAME.most}
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
        label={KEY_FIELDS.expiresAtMs.label}
        description="Works until the end of this day (UTC); empty: for ever"
        min={today()}
        {...form.getInputProps('expiresAt')}
      />
    </DialogForm>
  )
}

function nameOf(scope: Scope): string {
  return scope.slice(0, scope.indexOf(':'))
}
