/** The form to invite somebody by mail. */
import { Group, Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMay } from '@/dashboard/account'
import { PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { checkEmail } from '@/people/sign-in/pages/rules'
import { EmailField } from '@/people/sign-in/pages/sign-in-form'
import { type AccountRole, invite } from './members-data'
import { ROLE_WORDS, ROLES } from './words'

const EMPTY: { email: string; role: AccountRole } = { email: '', role: 'developer' }

export function InviteForm() {
  const isOwner = useMay()('account.change')
  const form = useForm({ initialValues: EMPTY, validate: { email: checkEmail } })
  const submission = useSubmission(form, async ({ email, role }) => {
    await invite(email.trim(), role)
    // Meanwhile the person may have begun to type another address.
    if (form.getValues().email === email) form.reset()
    notifyDone(`An invitation is on its way to ${email.trim()}.`)
  })
  return (
    <PlainForm submission={submission} action="Send invitation">
      <Group gap="sm" align="flex-start">
        <EmailField autoComplete="off" maxLength={254} style={{ flex: '1 1 220px' }} {...form.getInputProps('email')} />
        <Select
          label="Role"
          allowDeselect={false}
          style={{ flex: '0 1 160px' }}
          data={ROLES.filter((role) => isOwner || role !== 'owner').map((role) => ({
            value: role,
            label: ROLE_WORDS[role].label,
          }))}
          {...form.getInputProps('role')}
        />
      </Group>
    </PlainForm>
  )
}
