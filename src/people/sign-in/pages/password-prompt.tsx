/** A dialog that asks for the password, and for the second step if set up, before sign-in settings change. */
import { Text, TextInput, type TextInputProps } from '@mantine/core'
import { useForm } from '@mantine/form'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'

type PasswordPromptProps = {
  explanation: string
  action: string
  isDestructive?: boolean
  asksForCode?: boolean
  run(password: string, code: string): Promise<void>
}

/** `run` gets an empty code if none is required. */
export function PasswordPrompt({
  explanation,
  action,
  isDestructive = false,
  asksForCode = false,
  run,
}: PasswordPromptProps) {
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: {
      password: (password) => (password === '' ? 'Enter your password.' : null),
      code: (code) => (asksForCode && code.trim() === '' ? 'Enter a code.' : null),
    },
  })
  const submission = useSubmission(form, ({ password, code }) => run(password, code.trim()))
  return (
    <PlainForm
      submission={submission}
      action={action}
      button={{ ml: 'auto', color: isDestructive ? 'red.8' : undefined }}
      lead={<Text size="sm">{explanation}</Text>}
    >
      <PasswordField purpose="current" label="Your password" data-autofocus {...form.getInputProps('password')} />
      {asksForCode && <AnyCodeField {...form.getInputProps('code')} />}
    </PlainForm>
  )
}

/** A field for an app code or a backup code. */
export function AnyCodeField(props: TextInputProps) {
  return <TextInput label="Code of your authenticator app, or a backup code" autoComplete="one-time-code" {...props} />
}
