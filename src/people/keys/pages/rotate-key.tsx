/** Rotating an API key: the dialog, and a notice on the page while the former text still works. */
import { Alert, Button, NativeSelect, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconInfoCircle } from '@tabler/icons-react'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Moment } from '@/dashboard/components/moment'
import { perform } from '@/people/client'
import { CreatedKey } from './created-key'
import { KeyMaker } from './key-dialog'
import { type KeyBody, keysChanged } from './keys-data'

const OVERLAPS = [
  { value: '0', label: 'No longer: it is refused at once' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
]

/** The button that rotates a key, and its dialog. */
export function RotateKey({ item }: { item: KeyBody }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open}>
        Rotate
      </Button>
      <KeyMaker
        title={`Rotate “${item.name}”`}
        madeTitle="Your new API key"
        isOpen={isOpen}
        close={close}
        form={(onMade) => <RotateForm item={item} onRotated={onMade} cancel={close} />}
        made={(key, finish) => <CreatedKey value={key} finish={finish} />}
      />
    </>
  )
}

type RotateFormProps = { item: KeyBody; onRotated(key: string): void; cancel(): void }

function RotateForm({ item, onRotated, cancel }: RotateFormProps) {
  const form = useForm({ initialValues: { overlap: '24h' } })
  const submission = useSubmission(form, async ({ overlap }) => {
    const { key } = await perform('POST /keys/:id/rotate', { id: item.id, overlap })
    onRotated(key)
    await keysChanged()
  })
  return (
    <DialogForm submission={submission} cancel={cancel} action="Rotate key">
      <Text size="sm">A new key takes its place, with the same limits, budget and usage.</Text>
      {item.formerSecret && (
        <Alert color="yellow" icon={<IconInfoCircle size={18} />}>
          The old key, which ends in {item.formerSecret.lastFour}, is refused from then on.
        </Alert>
      )}
      <NativeSelect
        label="The present key works for"
        description="Long enough to give every program the new one"
        data={OVERLAPS}
        data-autofocus
        {...form.getInputProps('overlap')}
      />
    </DialogForm>
  )
}

/** Shows when the former text stops working, and whether programs still use it. */
export function FormerSecret({ item: { formerSecret } }: { item: KeyBody }) {
  if (!formerSecret) return null
  const { lastFour, endsAt, lastUsedAt } = formerSecret
  return (
    <Alert color={lastUsedAt === null ? 'blue' : 'yellow'} icon={<IconInfoCircle size={18} />}>
      The old key, which ends in {lastFour}, works until <Moment at={endsAt} hasSeconds />.{' '}
      {lastUsedAt === null ? (
        'Nothing has used it since the key was rotated.'
      ) : (
        <>
          It was last used <Moment at={lastUsedAt} isRelative />: programs still need the new one.
        </>
      )}
    </Alert>
  )
}
