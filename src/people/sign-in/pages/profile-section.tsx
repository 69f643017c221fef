/** The settings for the person's name. */
import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { SettingsForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { askAgain } from '@/dashboard/query'
import { VIEWER_KEY } from '@/dashboard/session'
import { performOwn } from '@/people/client'

type ProfileSectionProps = { viewer: { name: string } }

export function ProfileSection({ viewer }: ProfileSectionProps) {
  const form = useForm({
    initialValues: { name: viewer.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter your name.' : null) },
  })
  const submission = useSubmission(form, async ({ name }) => {
    await performOwn('PATCH /session/me', { name: name.trim() })
    await askAgain({ queryKey: VIEWER_KEY })
    form.resetDirty({ name })
    notifyDone('Your name was changed.')
  })
  return (
    <Section title="Profile">
      <SettingsForm form={form} submission={submission} action="Save name">
        <TextInput label="Name" autoComplete="name" maxLength={100} {...form.getInputProps('name')} />
      </SettingsForm>
    </Section>
  )
}
