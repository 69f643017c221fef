/** The part of the settings with the person's name and address. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { answer, api } from '@/dashboard/client'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { queryClient } from '@/dashboard/query'
import { VIEWER_KEY } from '@/dashboard/session'

type ProfileSectionProps = { viewer: { name: string; email: string; isEmailVerified: boolean } }

const FIELD_WIDTH = 420

export function ProfileSection({ viewer }: ProfileSectionProps) {
  const form = useForm({
    initialValues: { name: viewer.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter your name.' : null) },
  })
  const { submit, isRunning, error } = useSubmission(form, async ({ name }) => {
    await answer(api.session.me.patch({ name: name.trim() }))
    await queryClient.invalidateQueries({ queryKey: VIEWER_KEY })
    form.resetDirty()
    notifyDone('Your name was changed.')
  })
  return (
    <Section title="Profile">
      <form onSubmit={submit} noValidate>
        <Stack gap="md" maw={FIELD_WIDTH}>
          <FormError error={error} />
          <TextInput label="Name" autoComplete="name" maxLength={100} {...form.getInputProps('name')} />
          <TextInput
            label="E-mail address"
            description={viewer.isEmailVerified ? 'Confirmed.' : undefined}
            value={viewer.email}
            readOnly
            variant="filled"
          />
          <Group>
            <Button type="submit" variant="default" loading={isRunning} disabled={!form.isDirty()}>
              Save name
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
