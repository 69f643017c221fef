/** The settings for changing the password, which ends all other sessions. */
import { useForm } from '@mantine/form'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { askAgain } from '@/dashboard/query'
import { performOwn } from '@/people/client'

const MIN_CHARS = 8

export function PasswordSection({ email }: { email: string }) {
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: {
      currentPassword: (password) => (password === '' ? 'Enter your current password.' : null),
      newPassword: (password) => (password.length < MIN_CHARS ? `Use at least ${MIN_CHARS} characters.` : null),
    },
  })
  const submission = useSubmission(form, async (values) => {
    await performOwn('POST /session/password/change', values)
    form.reset()
    await askAgain()
    notifyDone('Your password was changed. All other sessions were ended.')
  })
  return (
    <Section title="Password" description="Changing it ends all your other sessions.">
      <PlainForm submission={submission} action="Change password" button={{ variant: 'default' }} maw={FORM_WIDTH}>
        {/* Tells password managers whose password this is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField purpose="current" label="Current password" {...form.getInputProps('currentPassword')} />
        <PasswordField
          purpose="new"
          label="New password"
          description="At least 8 characters."
          {...form.getInputProps('newPassword')}
        />
      </PlainForm>
    </Section>
  )
}
